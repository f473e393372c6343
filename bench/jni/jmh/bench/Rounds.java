/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package bench;

import java.io.PrintStream;
import java.util.Collection;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs JMH's cases in turns, round by round in one process, so that a machine that drifts moves all
 * of a round: Rounds FILE ROUNDS WARM-UPS MILLISECONDS PATTERN. Each line of the file is the number
 * of the round, the case and its nanoseconds.
 */
public final class Rounds {
    private Rounds() {}

    public static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[1]);
        int warmUps = Integer.parseInt(arguments[2]);
        TimeValue time = TimeValue.milliseconds(Integer.parseInt(arguments[3]));
        Options options = new OptionsBuilder().include(arguments[4]).forks(0)
                .warmupIterations(1).warmupTime(time).measurementIterations(1)
                .measurementTime(time).verbosity(VerboseMode.SILENT).shouldFailOnError(true)
                .build();
        try (PrintStream out = new PrintStream(arguments[0], "UTF-8")) {
            for (int round = -warmUps; round < rounds; round++) {
                Collection<RunResult> results = new Runner(options).run();
                for (RunResult each : round < 0 ? java.util.List.<RunResult>of() : results) {
                    String name = each.getParams().getBenchmark();
                    out.println(round + " " + name.substring(name.lastIndexOf('.') + 1) + " "
                            + each.getPrimaryResult().getScore());
                }
            }
        }
    }
}
