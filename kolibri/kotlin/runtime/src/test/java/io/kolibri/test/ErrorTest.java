/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.kolibri.test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.kolibri.KolibriException;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** What C throws, and text both ways. */
class ErrorTest {
    private static final String ODD = "a\u0000b \u00e9 \ud83d\udd75 \udc00 tail";

    @Test
    void aStatusIsAKolibriException() {
        KolibriException thrown =
                assertThrows(
                        KolibriException.class, () -> Counts.fail(-7, "told \u00e9\ud83d\udd75"));
        assertEquals(-7, thrown.status());
        assertEquals("told \u00e9\ud83d\udd75", thrown.getMessage());
    }

    @Test
    void aMappedStatusHasItsOwnClass() {
        NoSuchElementException thrown =
                assertThrows(NoSuchElementException.class, () -> Counts.fail(404, "gone"));
        assertEquals("gone", thrown.getMessage());
    }

    @Test
    void longMessagesAreCutAtACharacter() {
        String message = "x" + "\u00e9".repeat(2000);
        KolibriException thrown =
                assertThrows(KolibriException.class, () -> Counts.fail(1, message));
        assertEquals("x" + "\u00e9".repeat(511), thrown.getMessage());
    }

    @Test
    void textIsExact() {
        assertEquals(ODD, Counts.echo(ODD));
        assertEquals("", Counts.echo(""));
        String longer = ODD.repeat(10_000);
        assertEquals(longer, Counts.echo(longer));
    }

    @Test
    void nullTextIsAnError() {
        KolibriException thrown = assertThrows(KolibriException.class, () -> Counts.echo(null));
        assertEquals(-2, thrown.status());
    }
}
