/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.weaver;

import io.kolibri.rewriter.Problem;
import io.kolibri.rewriter.Target;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugin.MojoFailureException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.plugins.annotations.ResolutionScope;

/** Weaves a module's classes after the compilers have run. */
@Mojo(
        name = "weave",
        defaultPhase = LifecyclePhase.PROCESS_CLASSES,
        requiresDependencyResolution = ResolutionScope.COMPILE,
        threadSafe = true)
public final class WeaveMojo extends AbstractMojo {
    /** The folder to weave. */
    @Parameter(defaultValue = "${project.build.outputDirectory}", required = true)
    private File classes;

    /** Where superclasses and parameter types are looked up. */
    @Parameter(defaultValue = "${project.compileClasspathElements}", readonly = true)
    private List<String> classPath;

    /** Whether the classes will run on Android. */
    @Parameter(property = "kolibri.android", defaultValue = "false")
    private boolean android;

    @Override
    public void execute() throws MojoExecutionException, MojoFailureException {
        if (!classes.isDirectory()) {
            return;
        }
        Weave.Outcome outcome;
        try {
            Target target = android ? Target.ANDROID : Target.JVM;
            outcome = new Weave(List.of(classes.toPath()),
                    classPath.stream().map(each -> new File(each).toPath()).toList(),
                    target).run();
        } catch (IOException failure) {
            throw new MojoExecutionException(failure.getMessage(), failure);
        }
        if (!outcome.problems().isEmpty()) {
            throw new MojoFailureException(outcome.problems().stream()
                    .map(Problem::toString).collect(Collectors.joining("\n", "\n", "")));
        }
        getLog().info(outcome.woven() + " classes woven");
    }
}
