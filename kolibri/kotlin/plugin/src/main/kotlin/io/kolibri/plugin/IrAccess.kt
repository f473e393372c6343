/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import org.jetbrains.kotlin.descriptors.ClassKind
import org.jetbrains.kotlin.ir.declarations.IrClass
import org.jetbrains.kotlin.ir.declarations.IrDeclarationWithName
import org.jetbrains.kotlin.ir.declarations.IrFunction
import org.jetbrains.kotlin.ir.declarations.IrTypeParameter
import org.jetbrains.kotlin.ir.declarations.IrValueParameter
import org.jetbrains.kotlin.ir.symbols.IrSymbol
import org.jetbrains.kotlin.ir.types.IrSimpleType
import org.jetbrains.kotlin.ir.types.IrType
import org.jetbrains.kotlin.ir.types.SimpleTypeNullability

/**
 * The few reads of IR whose Java signatures differ between supported compilers; those go by method
 * name, old name second. Nothing outside this file does that.
 */
internal object IrAccess {
    /** The parameters of a function without its receiver. */
    fun valueParameters(function: IrFunction): List<IrValueParameter> {
        val all = read(function, "getParameters", "getValueParameters") as List<*>
        return all.filterIsInstance<IrValueParameter>().filter {
            val kind = readOrNull(it, "getKind")
            kind == null || kind.toString() != "DispatchReceiver"
        }
    }

    /** Whether a function has an extension receiver or a context, by what lowering left of them. */
    fun hasMoreReceivers(function: IrFunction): Boolean =
        readOrNull(function, "getExtensionReceiverParameter") != null ||
            valueParameters(function).any {
                val kind = readOrNull(it, "getKind")?.toString()
                kind == "ExtensionReceiver" || kind == "Context" ||
                    it.name.asString().startsWith("\$this\$") ||
                    it.name.asString().startsWith("\$context")
            }

    /** The class of a type, of a type parameter's bound; null for anything else. */
    fun classOf(type: IrType): IrClass? {
        val symbol: IrSymbol = (type as? IrSimpleType)?.classifier ?: return null
        return when (val owner = symbol.owner) {
            is IrClass -> owner
            is IrTypeParameter -> erased(owner.superTypes.mapNotNull { classOf(it) })
            else -> null
        }
    }

    /** The bound that a type parameter becomes in a class file: its class, if it has one. */
    private fun erased(bounds: List<IrClass>): IrClass? =
        bounds.find { it.kind != ClassKind.INTERFACE } ?: bounds.firstOrNull()

    /** Whether null belongs to a type, by its own mark or its bound's. */
    fun admitsNull(type: IrType): Boolean = when ((type as? IrSimpleType)?.nullability) {
        SimpleTypeNullability.MARKED_NULLABLE -> true
        SimpleTypeNullability.DEFINITELY_NOT_NULL -> false
        else -> ((type as? IrSimpleType)?.classifier?.owner as? IrTypeParameter)
            ?.superTypes?.all { admitsNull(it) } ?: false
    }

    /** Annotations, as elements of whatever type this release gives them. */
    fun annotations(declaration: IrClass): List<Any> =
        (read(declaration, "getAnnotations") as List<*>).filterNotNull()

    /** The JVM name of an annotation's class. */
    fun annotationName(annotation: Any): String? =
        classOf(read(annotation, "getType") as IrType)?.let { JvmNames.of(it) }

    /** The name of the enum entry that is the annotation's only argument. */
    fun enumArgument(annotation: Any): String? {
        val arguments = readOrNull(annotation, "getArguments") as List<*>?
        val value = if (arguments != null) arguments.firstOrNull() else firstOldArgument(annotation)
        val symbol = value?.let { readOrNull(it, "getSymbol") } as? IrSymbol
        return (symbol?.owner as? IrDeclarationWithName)?.name?.asString()
    }

    private fun firstOldArgument(annotation: Any): Any? =
        annotation.javaClass.getMethod("getValueArgument", Int::class.java).invoke(annotation, 0)

    private fun read(target: Any, vararg names: String): Any? {
        val method = names.firstNotNullOfOrNull { find(target, it) }
            ?: error("this Kotlin release has no ${names.joinToString()}: use the weaver")
        return method.invoke(target)
    }

    private fun readOrNull(target: Any, name: String): Any? = find(target, name)?.invoke(target)

    private fun find(target: Any, name: String) = target.javaClass.methods.find {
        it.name == name && it.parameterCount == 0 && !it.isBridge
    }?.also { it.isAccessible = true }
}
