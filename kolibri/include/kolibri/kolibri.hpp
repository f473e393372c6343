/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Kolibri for C++20: RAII around the C API, header-only, no exception of its own. The C macros of
 * class.h and native.h work in C++ as they are; this adds owning references, frames, attachments,
 * text and leases that end with their block, and methods described by a name and a function type.
 *
 *     using Next = kolibri::method<"java/util/Iterator", "next", java_lang_Object()>;
 *     using HasNext = kolibri::method<"java/util/Iterator", "hasNext", jboolean() noexcept>;
 *     using ValueOf = kolibri::static_method<"java/lang/Integer", "valueOf", Integer(jint)>;
 *     if (HasNext::call(env, iterator)) { auto next = Next::call(env, iterator); … }
 *
 * `noexcept` in the type is `nothrow` in a row: the call returns the bare value and does not ask
 * for an exception. Otherwise it returns a kolibri::result, which must be looked at. A method is
 * resolved by its first call, or by load, and again after kol_unload.
 *
 * Not here: anything that C code could not do as well. Types are those of class.h.
 */
#ifndef KOLIBRI_KOLIBRI_HPP
#define KOLIBRI_KOLIBRI_HPP

#include <kolibri/kolibri.h>

#include <atomic>
#include <cstddef>
#include <pthread.h>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kolibri
{

/* A value or the status that stands in its place. Reading the value of a failed one gives zero. */
template <class T>
class [[nodiscard]] result
{
  public:
    result(kol_status status, T value) noexcept : status_(status), value_(value) {}
    explicit operator bool() const noexcept { return status_ == KOL_OK; }
    kol_status status() const noexcept { return status_; }
    T value() const noexcept { return value_; }

  private:
    kol_status status_;
    T value_;
};

template <>
class [[nodiscard]] result<void>
{
  public:
    explicit result(kol_status status) noexcept : status_(status) {}
    explicit operator bool() const noexcept { return status_ == KOL_OK; }
    kol_status status() const noexcept { return status_; }

  private:
    kol_status status_;
};

/* A global reference to a T, dropped on whatever thread it ends. Empty after a failed keep. */
template <class T>
class global
{
  public:
    global() noexcept = default;
    global(JNIEnv *env, T handle) noexcept : raw_(kol__global(env, handle.raw)) {}
    global(global &&other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
    global(const global &) = delete;
    global &operator=(const global &) = delete;
    global &operator=(global &&other) noexcept
    {
        std::swap(raw_, other.raw_);
        return *this;
    }
    ~global() { kol__global_drop(nullptr, raw_); }
    explicit operator bool() const noexcept { return raw_ != nullptr; }

    /* Borrowed until this ends. */
    T get() const noexcept
    {
        T handle;
        handle.raw = raw_;
        return handle;
    }

  private:
    jobject raw_ = nullptr;
};

/* A local reference that is deleted with its block. */
template <class T>
class local
{
  public:
    local(JNIEnv *env, T handle) noexcept : env_(env), handle_(handle) {}
    local(const local &) = delete;
    local &operator=(const local &) = delete;
    ~local() { env_->DeleteLocalRef(handle_.raw); }
    T get() const noexcept { return handle_; }

  private:
    JNIEnv *env_;
    T handle_;
};

/* A local frame. If it could not be opened an exception is pending and nothing is closed. */
class frame
{
  public:
    frame(JNIEnv *env, jint capacity) noexcept
        : env_(env), is_open_(kol_frame_open(env, capacity) == KOL_OK)
    {
    }
    frame(const frame &) = delete;
    frame &operator=(const frame &) = delete;
    ~frame()
    {
        if (is_open_) {
            kol_frame_close(env_, nullptr);
        }
    }
    explicit operator bool() const noexcept { return is_open_; }

    /* Closes the frame now; the survivor lives on as the result, in the frame outside. */
    template <class T>
    [[nodiscard]] T close(T survivor) noexcept
    {
        if (std::exchange(is_open_, false)) {
            survivor.raw = kol_frame_close(env_, survivor.raw);
        }
        return survivor;
    }

  private:
    JNIEnv *env_;
    bool is_open_;
};

/* This thread attached, for the block. */
class attached
{
  public:
    explicit attached(const char *name = nullptr, bool is_daemon = true) noexcept
        : status_(kol_attachment_open(&attachment_, name, is_daemon))
    {
    }
    attached(const attached &) = delete;
    attached &operator=(const attached &) = delete;
    ~attached() { kol_attachment_close(&attachment_); }
    explicit operator bool() const noexcept { return status_ == KOL_OK; }
    kol_status status() const noexcept { return status_; }
    JNIEnv *env() const noexcept { return attachment_.env; }

  private:
    kol_attachment attachment_;
    kol_status status_;
};

/* The UTF-8 of a Java string, exact, for the block. */
class text
{
  public:
    text(JNIEnv *env, jobject string) noexcept
        : status_(kol_text_open(env, static_cast<jstring>(string), &text_))
    {
    }
    text(const text &) = delete;
    text &operator=(const text &) = delete;
    ~text() { kol_text_close(&text_); }
    explicit operator bool() const noexcept { return status_ == KOL_OK; }
    kol_status status() const noexcept { return status_; }
    std::string_view view() const noexcept { return {text_.bytes, text_.size}; }

  private:
    kol_text text_;
    kol_status status_;
};

/* A new Java string; a T is the handle of java.lang.String that you declared. */
template <class T>
result<T> make_text(JNIEnv *env, std::string_view bytes) noexcept
{
    jstring made = nullptr;
    T handle;
    kol_status status = kol_text_new(env, bytes.data(), bytes.size(), &made);
    handle.raw = made;
    return {status, handle};
}

/* Native objects in use: their memory stays until the block ends. */
class lease
{
  public:
    explicit lease(JNIEnv *env) noexcept : env_(env) { kol_lease_open(&lease_); }
    lease(const lease &) = delete;
    lease &operator=(const lease &) = delete;
    ~lease() { kol_lease_close(env_, &lease_); }

    /* The struct of a native object; S is what its token's declaration says. */
    template <class S>
    result<S *> pointer(jobject object) noexcept
    {
        void *out = nullptr;
        kol_status status = kol_object_pointer(env_, object, &lease_, &out);
        return {status, static_cast<S *>(out)};
    }

  private:
    JNIEnv *env_;
    kol_lease lease_;
};

/* A text that can be a template argument. */
template <std::size_t N>
struct name {
    char text[N];
    constexpr name(const char (&from)[N]) noexcept
    {
        for (std::size_t i = 0; i < N; i++) {
            text[i] = from[i];
        }
    }
};

/* A table of one member, resolved when it is first called. */
template <name Class, name Java, char Kind, class R, class... Arguments>
class resolved
{
  public:
    /* Resolves it. KOL_OK; KOL_EJAVA, a missing method being a NoSuchMethodError. */
    [[nodiscard]] static kol_status load(JNIEnv *env) noexcept
    {
        static const kol__row row = {
            &slot, Java.text, Kind, 0, sizeof...(Arguments), {result_type(), type<Arguments>()...}};
        static const kol_members table = {descriptor(), &row, 1};
        static const kol_members *const tables[] = {&table};
        char report[256] = "";
        pthread_mutex_lock(&lock);
        kol_status status =
            slot.id.any ? KOL_OK : kol_class_load(env, tables, 1, report, sizeof report);
        is_loaded.store(status == KOL_OK, std::memory_order_release);
        pthread_mutex_unlock(&lock);
        return status == KOL_EMISSING ? kol_throw_new(env, "java/lang/NoSuchMethodError", report)
                                      : status;
    }

  protected:
    static bool is_ready(JNIEnv *env) noexcept
    {
        return (is_loaded.load(std::memory_order_acquire) && slot.id.any) || load(env) == KOL_OK;
    }
    static inline kol__slot slot = {};

  private:
    template <class T>
    static const char *type() noexcept
    {
        return kol__descriptor_of(static_cast<const T *>(nullptr));
    }
    static const char *result_type() noexcept
    {
        if constexpr (std::is_void_v<R>) {
            return "V";
        } else {
            return type<R>();
        }
    }
    static const char *descriptor() noexcept
    {
        static char text[sizeof Class.text + 2];
        for (std::size_t i = 0; i < sizeof Class.text; i++) {
            text[i + 1] = Class.text[i];
        }
        text[0] = 'L';
        text[sizeof Class.text] = ';';
        return text;
    }
    static inline pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static inline std::atomic<bool> is_loaded = false;
};

/* Its calls: with the check of exceptions, and without. */
template <name Class, name Java, char Kind, class R, class... Arguments>
class member : public resolved<Class, Java, Kind, R, Arguments...>
{
  protected:
    /* For a method of an object the receiver, for a static one nothing that matters. */
    static R invoke(JNIEnv *env, [[maybe_unused]] jobject self, Arguments... arguments) noexcept
    {
        const jvalue values[] = {kol__value_of(arguments)..., kol__v_end()};
        [[maybe_unused]] jclass cls = member::slot.cls;
        jmethodID id = member::slot.id.method;
        if constexpr (std::is_void_v<R> && Kind == 'S') {
            env->CallStaticVoidMethodA(cls, id, values);
        } else if constexpr (std::is_void_v<R>) {
            env->CallVoidMethodA(self, id, values);
        } else if constexpr (Kind == 'S') {
            return kol__static_of(static_cast<const R *>(nullptr), env, cls, id, values);
        } else {
            return kol__call_of(static_cast<const R *>(nullptr), env, self, id, values);
        }
    }
    static result<R> checked(JNIEnv *env, jobject self, Arguments... arguments) noexcept
    {
        if constexpr (std::is_void_v<R>) {
            if (member::is_ready(env)) {
                invoke(env, self, arguments...);
            }
            return result<void>(kol__status(env));
        } else {
            R value = member::is_ready(env) ? invoke(env, self, arguments...) : R{};
            return {kol__status(env), value};
        }
    }
    static R bare(JNIEnv *env, jobject self, Arguments... arguments) noexcept
    {
        return member::is_ready(env) ? invoke(env, self, arguments...) : R();
    }
};

/* A method of an object, and a static one, of a class NAME with slashes and a function type. */
template <name Class, name Java, class Type>
class method;
template <name Class, name Java, class Type>
class static_method;

template <name Class, name Java, class R, class... A>
class method<Class, Java, R(A...)> : public member<Class, Java, 'F', R, A...>
{
  public:
    /* A null receiver is refused with a NullPointerException. */
    template <class T>
    static result<R> call(JNIEnv *env, T self, A... arguments) noexcept
    {
        if (self.raw == nullptr) {
            kol__refuse_null(env, Java.text);
            if constexpr (std::is_void_v<R>) {
                return result<void>(KOL_EJAVA);
            } else {
                return {KOL_EJAVA, R{}};
            }
        }
        return method::checked(env, self.raw, arguments...);
    }
};

template <name Class, name Java, class R, class... A>
class method<Class, Java, R(A...) noexcept> : public member<Class, Java, 'F', R, A...>
{
  public:
    template <class T>
    static R call(JNIEnv *env, T self, A... arguments) noexcept
    {
        if (self.raw == nullptr) {
            kol__refuse_null(env, Java.text);
            return R();
        }
        return method::bare(env, self.raw, arguments...);
    }
};

template <name Class, name Java, class R, class... A>
class static_method<Class, Java, R(A...)> : public member<Class, Java, 'S', R, A...>
{
  public:
    static result<R> call(JNIEnv *env, A... arguments) noexcept
    {
        return static_method::checked(env, nullptr, arguments...);
    }
};

template <name Class, name Java, class R, class... A>
class static_method<Class, Java, R(A...) noexcept> : public member<Class, Java, 'S', R, A...>
{
  public:
    static R call(JNIEnv *env, A... arguments) noexcept
    {
        return static_method::bare(env, nullptr, arguments...);
    }
};

} // namespace kolibri

#endif
