/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kevy

import java.io.File
import java.io.InputStream
import java.nio.file.Files
import java.nio.file.Path

/**
 * Finds and loads libkevyjvm, which brings libkevy. In this order:
 *
 * 1. `-Dkevy.library.path=DIR`: there or nowhere.
 * 2. On Android, and for whoever packs it so: `System.loadLibrary("kevyjvm")`.
 * 3. The folder of the jar.
 * 4. The jar itself: both libraries are copied to a private temporary folder, loaded, and the
 *    folder is removed again.
 *
 * libkevy is found beside libkevyjvm; if the process has one of the same name (from a door of
 * another language, or a second class loader), the system's loader takes that one instead, so all
 * doors of a process share their stores. A library that another class loader has loaded already
 * cannot be loaded again under the same path; then a copy of it is.
 */
internal object NativeLibrary {
    private var isLoaded = false

    /** Loads it once. An UnsatisfiedLinkError tells where it was looked for, and why not there. */
    @Synchronized
    fun load() {
        if (isLoaded) return
        val failures = mutableListOf<String>()
        isLoaded = roads().any { (name, road) -> tries(name, road, failures) }
        if (!isLoaded) {
            throw UnsatisfiedLinkError(
                "kevy's native library could not be loaded:\n  " + failures.joinToString("\n  ")
            )
        }
    }

    private fun roads(): List<Pair<String, () -> Unit>> {
        val folder = System.getProperty(PROPERTY)
        if (folder != null) return listOf("-D$PROPERTY=$folder" to { loadFrom(File(folder)) })
        val linked = "System.loadLibrary" to { System.loadLibrary(NAME) }
        val beside = "beside the jar" to { loadFrom(jarFolder()) }
        val inside = "in the jar" to { loadResource() }
        return listOf(linked, beside, inside)
    }

    private fun tries(name: String, road: () -> Unit, failures: MutableList<String>): Boolean =
        try {
            road()
            true
        } catch (failure: LinkageError) {
            failures += "$name: ${failure.message}"
            false
        } catch (failure: Exception) {
            failures += "$name: ${explain(failure)}"
            false
        }

    /** IllegalCallerException, by name because it is newer than Android's floor. */
    private fun explain(failure: Exception): String =
        if (failure.javaClass.simpleName == "IllegalCallerException") {
            "this Java denies native access to kevy: start it with " +
                "--enable-native-access=io.kevy (or ALL-UNNAMED on the class path)"
        } else {
            failure.toString()
        }

    private fun loadFrom(folder: File) {
        val file = File(folder, System.mapLibraryName(NAME)).absoluteFile
        if (!file.isFile) throw UnsatisfiedLinkError("$file does not exist")
        try {
            System.load(file.path)
        } catch (failure: UnsatisfiedLinkError) {
            if ("another classloader" !in failure.message.orEmpty()) throw failure
            loadCopies(mapOf(file.name to { file.inputStream() }))
        }
    }

    private fun jarFolder(): File {
        val source = NativeLibrary::class.java.protectionDomain?.codeSource?.location
        val file = source?.let { File(it.toURI()) }
        return file?.parentFile ?: throw UnsatisfiedLinkError("the jar has no folder")
    }

    private fun loadResource() {
        val folder = "native/${System.getProperty("os.name")}-${System.getProperty("os.arch")}"
        val names = listOf(System.mapLibraryName(NAME), ENGINE)
        loadCopies(
            names.associateWith { name ->
                { resource("$folder/$name") ?: throw UnsatisfiedLinkError("no $folder/$name") }
            }
        )
    }

    private fun resource(name: String): InputStream? =
        NativeLibrary::class.java.getResourceAsStream(name)

    /** Copies files to a folder that nobody else can write, and loads the first of them. */
    private fun loadCopies(files: Map<String, () -> InputStream>) {
        val folder = Files.createTempDirectory("kevy")
        try {
            for ((name, open) in files) {
                open().use { Files.copy(it, folder.resolve(name)) }
            }
            System.load(folder.resolve(files.keys.first()).toAbsolutePath().toString())
        } finally {
            remove(folder)
        }
    }

    /** What is loaded stays mapped without its name. */
    private fun remove(folder: Path) {
        folder.toFile().listFiles()?.forEach { it.delete() }
        folder.toFile().delete()
    }

    private const val PROPERTY = "kevy.library.path"
    private const val NAME = "kevyjvm"
    private const val ENGINE = "libkevy.so.1"
}
