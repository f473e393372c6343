/* SPDX-License-Identifier: MIT OR Apache-2.0 */
package refused

import io.kolibri.NativeMethod
import io.kolibri.NativeObject

class InContext(pointer: Long) : NativeObject(pointer) {
    context(text: String)
    @NativeMethod
    external fun withContext(): Int // refused: or have a context
}
