/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import org.jetbrains.kotlin.builtins.jvm.JavaToKotlinClassMap
import org.jetbrains.kotlin.ir.declarations.IrClass
import org.jetbrains.kotlin.ir.declarations.IrDeclaration
import org.jetbrains.kotlin.ir.declarations.IrDeclarationParent
import org.jetbrains.kotlin.ir.declarations.IrFunction
import org.jetbrains.kotlin.ir.declarations.IrPackageFragment
import org.jetbrains.kotlin.ir.types.IrSimpleType
import org.jetbrains.kotlin.ir.types.IrType
import org.jetbrains.kotlin.name.FqNameUnsafe

/**
 * JVM names of IR declarations, for classes and methods that are not being written. Exact for
 * classes that are not local; descriptors are exact for primitives, their arrays and plain classes,
 * which is what a generated native's parameters can be confused with.
 */
internal object JvmNames {
    private val PRIMITIVES = mapOf(
        "kotlin.Boolean" to "Z", "kotlin.Byte" to "B", "kotlin.Char" to "C", "kotlin.Short" to "S",
        "kotlin.Int" to "I", "kotlin.Long" to "J", "kotlin.Float" to "F", "kotlin.Double" to "D",
        "kotlin.Unit" to "V",
    )

    /** The internal name of a class. */
    fun of(declaration: IrClass): String {
        val name = declaration.name.asString()
        return when (val parent: IrDeclarationParent = declaration.parent) {
            is IrClass -> of(parent) + "$" + name
            is IrPackageFragment -> {
                val folder = parent.packageFqName.asString().replace('.', '/')
                mapped(declaration) ?: if (folder.isEmpty()) name else "$folder/$name"
            }
            else -> outer(parent)?.let { of(it) + "$" + name } ?: name
        }
    }

    fun descriptor(function: IrFunction): String {
        val parameters = IrAccess.valueParameters(function)
        return parameters.joinToString("", "(", ")") { descriptor(it.type) } +
            descriptor(function.returnType)
    }

    private fun descriptor(type: IrType): String {
        val declaration = IrAccess.classOf(type) ?: return "L?;"
        val name = kotlinName(declaration)
        PRIMITIVES[name]?.let { if (!IrAccess.admitsNull(type)) return it }
        if (name == "kotlin.Array") {
            val element = (type as? IrSimpleType)?.arguments?.firstOrNull() as? IrType
            return "[" + (element?.let { descriptor(it) } ?: "L?;")
        }
        PRIMITIVES[name.removeSuffix("Array")]?.let { if (name.endsWith("Array")) return "[$it" }
        return "L" + of(declaration) + ";"
    }

    private fun mapped(declaration: IrClass): String? =
        JavaToKotlinClassMap.mapKotlinToJava(FqNameUnsafe(kotlinName(declaration)))
            ?.asString()?.replace('.', '$')

    private fun kotlinName(declaration: IrClass): String {
        val folder = (declaration.parent as? IrPackageFragment)?.packageFqName?.asString() ?: ""
        val name = declaration.name.asString()
        return if (folder.isEmpty()) name else "$folder.$name"
    }

    private fun outer(start: IrDeclarationParent): IrClass? {
        var at: IrDeclarationParent? = start
        while (at != null && at !is IrClass) {
            at = (at as? IrDeclaration)?.parent
        }
        return at
    }
}
