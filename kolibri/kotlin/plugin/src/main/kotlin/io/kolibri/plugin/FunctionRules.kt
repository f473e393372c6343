/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import org.jetbrains.kotlin.KtSourceElement
import org.jetbrains.kotlin.descriptors.ClassKind
import org.jetbrains.kotlin.descriptors.Modality
import org.jetbrains.kotlin.descriptors.Visibilities
import org.jetbrains.kotlin.fir.FirAnnotationContainer
import org.jetbrains.kotlin.fir.FirSession
import org.jetbrains.kotlin.fir.declarations.FirFunction
import org.jetbrains.kotlin.fir.declarations.FirPropertyAccessor
import org.jetbrains.kotlin.fir.declarations.FirValueParameter
import org.jetbrains.kotlin.fir.declarations.getAnnotationByClassId
import org.jetbrains.kotlin.fir.declarations.hasAnnotation
import org.jetbrains.kotlin.fir.expressions.FirLiteralExpression
import org.jetbrains.kotlin.fir.resolve.toClassSymbol
import org.jetbrains.kotlin.fir.resolve.toTypeParameterSymbol
import org.jetbrains.kotlin.fir.symbols.FirBasedSymbol
import org.jetbrains.kotlin.fir.symbols.impl.FirClassSymbol
import org.jetbrains.kotlin.fir.symbols.impl.FirPropertySymbol
import org.jetbrains.kotlin.fir.types.ConeKotlinType
import org.jetbrains.kotlin.fir.types.coneType
import org.jetbrains.kotlin.name.ClassId
import org.jetbrains.kotlin.name.FqName
import org.jetbrains.kotlin.name.Name

/** Why a function cannot be rewritten, and where to point; null source is its name. */
internal class Refusal(val text: String, val source: KtSourceElement? = null)

/**
 * The rewriter's rules in terms of source, and those of constructs that a class file no longer
 * shows. The rewriter judges the class file again, so nothing hangs on this being complete.
 */
internal class FunctionRules(
    private val session: FirSession,
    private val containers: List<FirBasedSymbol<*>>,
) {
    fun refusal(function: FirFunction): Refusal? {
        val pointers = function.valueParameters.filter { has(it, AS_NATIVE_POINTER) }
        if (!has(function, NATIVE_METHOD)) {
            return pointers.firstOrNull()?.let {
                Refusal(
                    "@AsNativePointer has an effect only on parameters of a @NativeMethod",
                    it.source,
                )
            }
        }
        val text = ofPlace(function) ?: ofForm(function) ?: ofName(function)
        return text?.let { Refusal(it) }
            ?: pointers.firstNotNullOfOrNull { ofPointer(it) }
            ?: ofLeaf(function)
    }

    private fun ofPlace(function: FirFunction): String? {
        val last = containers.lastOrNull()
        val isAccessor = last is FirPropertySymbol
        val owner = if (isAccessor) containers.getOrNull(containers.size - 2) else last
        return when {
            owner !is FirClassSymbol<*> || !isNativeObject(owner) ->
                "@NativeMethod needs a member of a subclass of io.kolibri.NativeObject"
            has(function, JVM_STATIC) ->
                "@NativeMethod needs an object, and a static native has none: remove the" +
                    " annotation and register it as a static row, or make it a member"
            function.receiverParameter != null || function.contextParameters.isNotEmpty() ->
                "@NativeMethod cannot be an extension or have a context: make it a parameter"
            else -> null
        }
    }

    private fun ofForm(function: FirFunction): String? = when {
        function.status.isSuspend ->
            "a suspend function cannot be native: declare a plain one and call it from a" +
                " suspend function"
        function.status.modality == Modality.ABSTRACT && !function.status.isExternal ->
            "@NativeMethod is not inherited: put it on the native methods that implement this one"
        !function.status.isExternal && !isExternalProperty(function) ->
            "@NativeMethod has a body already: make it native (external in Kotlin)"
        function.valueParameters.size > PARAMETERS_MAX ->
            "a native row has at most $PARAMETERS_MAX parameters: pass an array or an object"
        else -> null
    }

    private fun isExternalProperty(function: FirFunction): Boolean =
        function is FirPropertyAccessor && function.propertySymbol.rawStatus.isExternal

    /** Internal members and value classes in the signature get a name that nobody wrote. */
    private fun ofName(function: FirFunction): String? {
        if (has(function, JVM_NAME)) return null
        val types = function.valueParameters.map { it.returnTypeRef.coneType } +
            function.returnTypeRef.coneType
        val reason = when {
            function.status.visibility == Visibilities.Internal -> "it is internal"
            types.any { isValueClass(it) } -> "a value class is in its signature"
            else -> return null
        }
        return "its JVM name is made up by the compiler ($reason): give it one with @JvmName"
    }

    private fun ofPointer(parameter: FirValueParameter): Refusal? {
        val type = parameter.returnTypeRef.coneType
        val text = when {
            parameter.isVararg || isArray(type) ->
                "@AsNativePointer on an array or vararg: pass the objects one by one"
            classOf(type)?.let { isNativeObject(it) } != true ->
                "@AsNativePointer needs a parameter whose type is a subclass of NativeObject"
            else -> return null
        }
        return Refusal(text, parameter.source)
    }

    private fun ofLeaf(function: FirFunction): Refusal? {
        val leaf = function.annotations.getAnnotationByClassId(NATIVE_METHOD, session)
            ?.argumentMapping?.mapping?.get(Name.identifier("leaf")) as? FirLiteralExpression
        if (leaf?.value != true) return null
        if (has(function, SYNCHRONIZED)) {
            return Refusal("a leaf cannot be synchronized: a leaf may not block")
        }
        for (each in function.valueParameters) {
            if (!has(each, AS_NATIVE_POINTER) && !isPrimitive(each.returnTypeRef.coneType)) {
                return Refusal(
                    "a leaf takes only primitives and @AsNativePointer objects: remove leaf",
                    each.source,
                )
            }
        }
        val result = function.returnTypeRef.coneType
        return if (isPrimitive(result) || classOf(result)?.classId == UNIT) null
        else Refusal("a leaf returns a primitive or nothing: remove leaf")
    }

    private fun isNativeObject(symbol: FirClassSymbol<*>): Boolean {
        if (symbol.classId == NATIVE_OBJECT) return true
        return symbol.resolvedSuperTypes.any { type ->
            classOf(type)?.let { isNativeObject(it) } ?: false
        }
    }

    private fun isValueClass(type: ConeKotlinType): Boolean =
        type.toClassSymbol(session)?.rawStatus?.let { it.isInline || it.isValue } ?: false

    private fun isArray(type: ConeKotlinType): Boolean =
        classOf(type)?.classId?.asString()?.let { it.startsWith("kotlin/") && it.endsWith("Array") }
            ?: false

    private fun isPrimitive(type: ConeKotlinType): Boolean {
        val isNullable = type.toString().endsWith("?")
        return !isNullable && type.toClassSymbol(session)?.classId in PRIMITIVES
    }

    /** The class of a type, or of a type parameter's bounds the one that is no interface. */
    private fun classOf(type: ConeKotlinType): FirClassSymbol<*>? {
        type.toClassSymbol(session)?.let { return it }
        val bounds = type.toTypeParameterSymbol(session)?.resolvedBounds ?: return null
        val classes = bounds.mapNotNull { classOf(it.coneType) }
        return classes.find { it.classKind != ClassKind.INTERFACE } ?: classes.firstOrNull()
    }

    private fun has(target: FirAnnotationContainer, annotation: ClassId): Boolean =
        target.annotations.hasAnnotation(annotation, session)

    private companion object {
        const val PARAMETERS_MAX = 8
        val NATIVE_OBJECT = id("io.kolibri", "NativeObject")
        val NATIVE_METHOD = id("io.kolibri", "NativeMethod")
        val AS_NATIVE_POINTER = id("io.kolibri", "AsNativePointer")
        val JVM_STATIC = id("kotlin.jvm", "JvmStatic")
        val JVM_NAME = id("kotlin.jvm", "JvmName")
        val SYNCHRONIZED = id("kotlin.jvm", "Synchronized")
        val UNIT = id("kotlin", "Unit")
        val PRIMITIVES = listOf(
            "Boolean", "Byte", "Char", "Short", "Int", "Long", "Float", "Double",
        ).map { id("kotlin", it) }.toSet()

        fun id(folder: String, name: String) = ClassId(FqName(folder), Name.identifier(name))
    }
}
