/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * zlib for the JVM: the C side of docs/tutorial.md. One class, a stream that deflates or inflates;
 * the same file serves the Kotlin class and the Java one, whose name the build passes.
 *
 * zlib allows one call at a time on a stream: the class's write is synchronized. Its count of bytes
 * is atomic, since anybody may ask for it meanwhile.
 */
/* region c */
#include <kolibri/kolibri.h>

#include <stdlib.h>
#include <zlib.h>

struct zstream {
    z_stream z;
    int (*step)(z_stream *, int); /* deflate, inflate */
    int (*end)(z_stream *);
    int finish, status; /* step's word for the end; what zlib said: only Z_OK goes on */
    _Atomic(jlong) written;
};

KOL_NATIVE(ZStream, ZSTREAM_CLASS, struct zstream)
#define ZSTREAM_NATIVES(X, C)                                                                      \
    X(C, N2, create, "create", jboolean, jint)                                                     \
    X(C, M2, jbyte__array, write, "write", jbyte__array, jboolean)                                 \
    X(C, L0, jlong, written, "written")                                                            \
    X(C, D, destroy)
KOL_NATIVES(ZStream, ZSTREAM_NATIVES)
/* end region */

/* region create */
static void zstream_fail(JNIEnv *env, int status, const char *message)
{
    const char *name = status == Z_MEM_ERROR      ? "java/lang/OutOfMemoryError"
                       : status == Z_STREAM_ERROR ? "java/lang/IllegalArgumentException"
                                                  : "java/util/zip/DataFormatException";
    kol_throw_new(env, name, message != NULL ? message : zError(status));
}

static struct zstream *ZStream_create(JNIEnv *env, jboolean inflating, jint level)
{
    struct zstream *made = calloc(1, sizeof *made); /* NULL becomes an OutOfMemoryError */
    if (made != NULL) {
        *made = inflating
                    ? (struct zstream){.step = inflate, .end = inflateEnd}
                    : (struct zstream){.step = deflate, .end = deflateEnd, .finish = Z_FINISH};
        int status = inflating ? inflateInit(&made->z) : deflateInit(&made->z, level);
        if (status != Z_OK) {
            zstream_fail(env, status, NULL);
            free(made);
            made = NULL;
        }
    }
    return made;
}

static void ZStream_destroy(struct zstream *self)
{
    self->end(&self->z);
    free(self);
}

static jlong ZStream_written(struct zstream *self)
{
    return self->written;
}
/* end region */

/* Runs zlib until it wants more input; out and size become the caller's. */
static int zstream_run(struct zstream *self, int flush, Bytef **out, size_t *size)
{
    size_t room = 2048;
    int status;
    do {
        Bytef *bytes = room > INT32_MAX / 2 ? NULL : realloc(*out, room *= 2);
        if (bytes == NULL) {
            return Z_MEM_ERROR;
        }
        *out = bytes;
        self->z.next_out = bytes + *size;
        self->z.avail_out = (uInt)(room - *size);
        status = self->step(&self->z, flush);
        *size = room - self->z.avail_out;
    } while (status == Z_OK && self->z.avail_out == 0);
    self->written += (jlong)*size;
    return status == Z_BUF_ERROR ? Z_OK : status; /* there was nothing left to do */
}

/* region write */
static jbyte__array ZStream_write(JNIEnv *env, struct zstream *self, jbyte__array in, jboolean last)
{
    jbyte__array result = {NULL};
    jbyte__pin pin;
    Bytef *out = NULL;
    size_t size = 0;
    if (self->status != Z_OK) {
        kol_throw_new(env, "java/lang/IllegalStateException", "the stream has ended");
    } else if (jbyte__array__pin(env, in, &pin) == KOL_OK) { /* else: null, or no memory */
        self->z.next_in = (Bytef *)pin.elements;
        self->z.avail_in = (uInt)pin.count;
        self->status = zstream_run(self, last ? self->finish : Z_NO_FLUSH, &out, &size);
        jbyte__array__unpin(env, &pin, KOL_ABORT);
        if (self->status < 0) {
            zstream_fail(env, self->status, self->z.msg);
        } else if (last && self->status != Z_STREAM_END) {
            zstream_fail(env, self->status = Z_DATA_ERROR, "the stream is cut off");
        } else if (jbyte__array__make(env, (jbyte *)out, (jsize)size, &result) != KOL_OK) {
            self->status = Z_MEM_ERROR; /* what came out is lost */
        }
        free(out);
    }
    return result;
}
/* end region */

/* region load */
JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void *reserved)
{
    JNIEnv *env;
    char report[1024] = "";
    (void)reserved;
    kol_status status = kol_load(vm, ZSTREAM_CLASS, &env);
    if (status == KOL_OK) {
        status = kol_natives_register(env, &ZStream__natives, report, sizeof report);
    }
    return kol_load_result(env, status, report);
}
/* end region */
