/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.plugin

import io.kolibri.plugin.rewriter.ClassRewriter
import io.kolibri.plugin.rewriter.MethodFacts
import io.kolibri.plugin.rewriter.Names
import io.kolibri.plugin.rewriter.Problem
import io.kolibri.plugin.rewriter.Target
import org.jetbrains.kotlin.backend.jvm.extensions.ClassGenerator
import org.jetbrains.kotlin.backend.jvm.extensions.ClassGeneratorExtension
import org.jetbrains.kotlin.cli.common.messages.CompilerMessageSeverity
import org.jetbrains.kotlin.cli.common.messages.MessageCollector
import org.jetbrains.kotlin.ir.declarations.IrClass
import org.jetbrains.kotlin.ir.declarations.IrDeclaration
import org.jetbrains.kotlin.ir.declarations.IrFunction
import org.jetbrains.org.objectweb.asm.MethodVisitor
import org.jetbrains.org.objectweb.asm.Opcodes
import org.jetbrains.org.objectweb.asm.Type

/** Puts the rewriter between the compiler and its class writer. */
internal class ClassHook(private val target: Target, private val messages: MessageCollector?) :
    ClassGeneratorExtension {
    override fun generateClass(generator: ClassGenerator, declaration: IrClass?): ClassGenerator =
        if (declaration == null) generator
        else RewritingGenerator(generator, declaration, target, messages)
}

/** One class on its way to the class writer. */
private class RewritingGenerator(
    private val next: ClassGenerator,
    private val declaration: IrClass,
    target: Target,
    private val messages: MessageCollector?,
) : ClassGenerator by next {
    private val classes = IrClasses()
    private val functions = HashMap<String, IrFunction>()
    private val rewriter = ClassRewriter(classes, target, ::report)

    override fun defineClass(
        version: Int,
        access: Int,
        name: String,
        signature: String?,
        superName: String,
        interfaces: Array<out String>,
    ) {
        classes.add(name, declaration)
        rewriter.start(access, name, superName, interfaces)
        rewriter.annotation(Names.KOTLIN_METADATA)
        rewriter.kind(classes.kindOf(declaration))
        next.defineClass(version, access, name, signature, superName, interfaces)
    }

    override fun newMethod(
        declaration: IrFunction?,
        access: Int,
        name: String,
        desc: String,
        signature: String?,
        exceptions: Array<out String>?,
    ): MethodVisitor {
        val facts = if (declaration == null) MethodFacts.NONE else factsOf(declaration, name, desc)
        return rewriter.method(
            { a, n, d, s, e -> next.newMethod(declaration, a, n, d, s, e) },
            facts, access, name, desc, signature, exceptions,
        )
    }

    override fun done(generateSmapCopyToAnnotation: Boolean) {
        rewriter.finish { access, name, desc, signature, exceptions ->
            val function = functions[name + desc]
            Frameless(next.newMethod(function, access, name, desc, signature, exceptions))
        }
        next.done(generateSmapCopyToAnnotation)
    }

    private fun factsOf(function: IrFunction, name: String, desc: String): MethodFacts {
        functions[name + desc] = function
        val count = Type.getArgumentTypes(desc).size
        val nullable = classes.addParameters(function, count)
        val refusal = if (IrAccess.hasMoreReceivers(function)) RECEIVERS else null
        return MethodFacts(nullable, Places.line(function), refusal)
    }

    private fun report(problem: Problem) {
        val function = problem.method()?.let { functions[it + problem.descriptor()] }
        val place: IrDeclaration = function ?: declaration
        messages?.report(CompilerMessageSeverity.ERROR, problem.toString(), Places.of(place))
    }

    private companion object {
        const val RECEIVERS =
            "@NativeMethod cannot be an extension or have a context: make it a parameter"
    }
}

/** The compiler's class writer makes all stack map frames itself, and takes none. */
private class Frameless(out: MethodVisitor) : MethodVisitor(Opcodes.API_VERSION, out) {
    override fun visitFrame(
        type: Int,
        numLocal: Int,
        local: Array<out Any>?,
        numStack: Int,
        stack: Array<out Any>?,
    ) = Unit
}
