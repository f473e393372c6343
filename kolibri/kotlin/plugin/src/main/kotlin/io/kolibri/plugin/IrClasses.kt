/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import io.kolibri.plugin.rewriter.ClassInfo
import io.kolibri.plugin.rewriter.ClassSource
import io.kolibri.plugin.rewriter.Kind
import java.util.BitSet
import org.jetbrains.kotlin.descriptors.ClassKind
import org.jetbrains.kotlin.descriptors.DescriptorVisibilities
import org.jetbrains.kotlin.ir.declarations.IrClass
import org.jetbrains.kotlin.ir.declarations.IrFunction
import org.jetbrains.kotlin.ir.declarations.IrSimpleFunction
import org.jetbrains.kotlin.ir.types.IrType

/**
 * The rewriter's questions about other classes, answered from the compiler's IR. A class is known
 * by its JVM name once it was a superclass, or the type of a parameter, of the class being written.
 */
internal class IrClasses : ClassSource {
    private val known = HashMap<String, IrClass>()
    private val answers = HashMap<String, ClassInfo>()

    override fun find(internalName: String): ClassInfo? {
        if (internalName == ROOT) return ClassInfo(ROOT, null, listOf(), null, setOf())
        return answers[internalName]
            ?: known[internalName]?.let { describe(internalName, it) }
                ?.also { answers[internalName] = it }
    }

    fun add(internalName: String, declaration: IrClass) {
        if (known.putIfAbsent(internalName, declaration) != null) return
        declaration.superTypes.forEach { add(it) }
    }

    /** Adds the classes of a function's parameters and says which of these admit null. */
    fun addParameters(function: IrFunction, count: Int): BitSet {
        val nullable = BitSet()
        val parameters = IrAccess.valueParameters(function)
        if (parameters.size != count) return nullable
        parameters.forEachIndexed { index, parameter ->
            add(parameter.type)
            nullable[index] = IrAccess.admitsNull(parameter.type)
        }
        return nullable
    }

    private fun add(type: IrType) {
        val declaration = IrAccess.classOf(type) ?: return
        add(JvmNames.of(declaration), declaration)
    }

    private fun describe(name: String, declaration: IrClass): ClassInfo {
        val supers = declaration.superTypes.mapNotNull { IrAccess.classOf(it) }
        val (interfaces, classes) = supers.partition { it.kind == ClassKind.INTERFACE }
        return ClassInfo(
            name,
            classes.firstOrNull()?.let { JvmNames.of(it) } ?: ROOT,
            interfaces.map { JvmNames.of(it) },
            kindOf(declaration),
            methodsOf(declaration),
        )
    }

    /** What a class's NativeClass annotation says; null without one. */
    fun kindOf(declaration: IrClass): Kind? {
        val annotation = IrAccess.annotations(declaration)
            .find { IrAccess.annotationName(it) == NATIVE_CLASS } ?: return null
        return IrAccess.enumArgument(annotation)?.let { Kind.valueOf(it) } ?: Kind.SHARED
    }

    private fun methodsOf(declaration: IrClass): Set<String> =
        declaration.declarations.filterIsInstance<IrSimpleFunction>()
            .filter { it.visibility != DescriptorVisibilities.PRIVATE && !it.isFakeOverride }
            .map { it.name.asString() + JvmNames.descriptor(it) }
            .toSet()

    private companion object {
        const val ROOT = "java/lang/Object"
        const val NATIVE_CLASS = "io/kolibri/NativeClass"
    }
}
