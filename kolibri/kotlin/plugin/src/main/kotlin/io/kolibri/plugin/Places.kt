/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import org.jetbrains.kotlin.cli.common.messages.CompilerMessageLocation
import org.jetbrains.kotlin.ir.IrFileEntry
import org.jetbrains.kotlin.ir.declarations.IrDeclaration
import org.jetbrains.kotlin.ir.declarations.IrDeclarationParent
import org.jetbrains.kotlin.ir.declarations.IrFile

/** Where a declaration is in its source file. */
internal object Places {
    /** The place for a message, null if the file is not known. */
    fun of(declaration: IrDeclaration): CompilerMessageLocation? {
        val entry = file(declaration) ?: return null
        val start = declaration.startOffset
        if (start < 0) return CompilerMessageLocation.create(entry.name)
        val line = entry.getLineNumber(start) + 1
        return CompilerMessageLocation.create(
            entry.name, line, entry.getColumnNumber(start) + 1, null,
        )
    }

    /** The line, counted from 1; 0 if it is not known. */
    fun line(declaration: IrDeclaration): Int {
        val start = declaration.startOffset
        return if (start < 0) 0 else file(declaration)?.let { it.getLineNumber(start) + 1 } ?: 0
    }

    private fun file(declaration: IrDeclaration): IrFileEntry? {
        var at: IrDeclarationParent? = declaration.parent
        while (at != null && at !is IrFile) {
            at = (at as? IrDeclaration)?.parent
        }
        return at?.fileEntry
    }
}
