/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package io.example;

import io.kolibri.Bridge;
import io.kolibri.Handles;
import java.util.ArrayList;
import java.util.List;

/** A static bridge that C calls. */
public final class Listener {
    private Listener() {}

    static int onData(int handle, int value) {
        try {
            @SuppressWarnings("unchecked")
            List<Integer> list = (List<Integer>) Handles.get(handle);
            list.add(value);
            if (value < 0) {
                throw new IllegalArgumentException("negative");
            }
            return list.size();
        } catch (Throwable t) {
            return Bridge.caught(t);
        }
    }

    static Object makeList() {
        return new ArrayList<Integer>();
    }
}
