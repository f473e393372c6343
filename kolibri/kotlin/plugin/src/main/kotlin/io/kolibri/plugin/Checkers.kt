/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import org.jetbrains.kotlin.diagnostics.DiagnosticReporter
import org.jetbrains.kotlin.diagnostics.KtDiagnosticFactoryToRendererMap
import org.jetbrains.kotlin.diagnostics.KtDiagnosticsContainer
import org.jetbrains.kotlin.diagnostics.SourceElementPositioningStrategies
import org.jetbrains.kotlin.diagnostics.error1
import org.jetbrains.kotlin.diagnostics.rendering.BaseDiagnosticRendererFactory
import org.jetbrains.kotlin.diagnostics.rendering.CommonRenderers
import org.jetbrains.kotlin.diagnostics.reportOn
import org.jetbrains.kotlin.fir.FirSession
import org.jetbrains.kotlin.fir.analysis.checkers.MppCheckerKind
import org.jetbrains.kotlin.fir.analysis.checkers.context.CheckerContext
import org.jetbrains.kotlin.fir.analysis.checkers.declaration.DeclarationCheckers
import org.jetbrains.kotlin.fir.analysis.checkers.declaration.FirDeclarationChecker
import org.jetbrains.kotlin.fir.analysis.extensions.FirAdditionalCheckersExtension
import org.jetbrains.kotlin.fir.declarations.FirFunction
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrar
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrarAdapter
import org.jetbrains.kotlin.psi.KtElement

/**
 * The rules as errors of the front end: with file, line and column, and in an editor that runs
 * compiler plugins. Loaded only where the API is there; without it, and for what only the class
 * file shows, the class writer reports.
 */
internal object Checkers {
    fun register(hand: (point: Any, extension: Any) -> Unit) {
        hand(FirExtensionRegistrarAdapter.Companion, CheckerRegistrar())
    }
}

private class CheckerRegistrar : FirExtensionRegistrar() {
    override fun ExtensionRegistrarContext.configurePlugin() {
        +::NativeCheckers
        registerDiagnosticContainers(NativeErrors)
    }
}

private class NativeCheckers(session: FirSession) : FirAdditionalCheckersExtension(session) {
    override val declarationCheckers = object : DeclarationCheckers() {
        override val functionCheckers: Set<FirDeclarationChecker<FirFunction>> =
            setOf(NativeFunctionChecker)
    }
}

private object NativeFunctionChecker : FirDeclarationChecker<FirFunction>(MppCheckerKind.Common) {
    context(context: CheckerContext, reporter: DiagnosticReporter)
    override fun check(declaration: FirFunction) {
        val refusal = FunctionRules(context.session, context.containingDeclarations)
            .refusal(declaration) ?: return
        reporter.reportOn(refusal.source ?: declaration.source, NativeErrors.REFUSED, refusal.text)
    }
}

internal object NativeErrors : KtDiagnosticsContainer() {
    val REFUSED by error1<KtElement, String>(SourceElementPositioningStrategies.DECLARATION_NAME)

    override fun getRendererFactory(): BaseDiagnosticRendererFactory = NativeMessages
}

private object NativeMessages : BaseDiagnosticRendererFactory() {
    override val MAP by KtDiagnosticFactoryToRendererMap("Kolibri") { map ->
        map.put(NativeErrors.REFUSED, "{0}", CommonRenderers.STRING)
    }
}
