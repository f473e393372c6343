/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import io.kolibri.plugin.rewriter.Target
import org.jetbrains.kotlin.backend.jvm.extensions.ClassGeneratorExtension
import org.jetbrains.kotlin.compiler.plugin.AbstractCliOption
import org.jetbrains.kotlin.compiler.plugin.CliOption
import org.jetbrains.kotlin.compiler.plugin.CliOptionProcessingException
import org.jetbrains.kotlin.compiler.plugin.CommandLineProcessor
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
import org.jetbrains.kotlin.config.CommonConfigurationKeys
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.config.CompilerConfigurationKey

private const val PLUGIN_ID = "io.kolibri"
private val TARGET = CompilerConfigurationKey<Target>("where the classes will run")

/** `-P plugin:io.kolibri:target=android` chooses the output for Android. */
class Options : CommandLineProcessor {
    override val pluginId: String = PLUGIN_ID

    override val pluginOptions: Collection<AbstractCliOption> =
        listOf(CliOption("target", "jvm|android", "where the classes will run", required = false))

    override fun processOption(
        option: AbstractCliOption,
        value: String,
        configuration: CompilerConfiguration,
    ) {
        val target = Target.entries.find { it.name.equals(value, ignoreCase = true) }
            ?: throw CliOptionProcessingException("target is jvm or android, not $value")
        configuration.put(TARGET, target)
    }
}

/**
 * Where the compiler meets the plugin: the rewriter behind the class writer in every supported
 * release, the checkers from 2.2.20 on, whose API they need.
 *
 * Extension points changed their type between releases, so they are handed over without naming it.
 */
class Registrar : CompilerPluginRegistrar() {
    override val pluginId: String = PLUGIN_ID
    override val supportsK2: Boolean = true

    override fun ExtensionStorage.registerExtensions(configuration: CompilerConfiguration) {
        val messages = configuration.get(CommonConfigurationKeys.MESSAGE_COLLECTOR_KEY)
        val target = configuration.get(TARGET) ?: Target.JVM
        register(this, ClassGeneratorExtension.Companion, ClassHook(target, messages))
        if (hasCheckers()) {
            Checkers.register { point, extension -> register(this, point, extension) }
        }
    }

    private fun hasCheckers(): Boolean = try {
        Class.forName("org.jetbrains.kotlin.diagnostics.KtDiagnosticsContainer")
        true
    } catch (_: ClassNotFoundException) {
        false
    }

    private fun register(storage: ExtensionStorage, point: Any, extension: Any) {
        storage.javaClass.methods
            .first { it.name == "registerExtension" && it.parameterCount == 2 }
            .invoke(storage, point, extension)
    }
}
