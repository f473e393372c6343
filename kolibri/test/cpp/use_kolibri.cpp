/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kolibri.hpp in a JVM: a program of its own, built and run by test_cpp.c where there is a C++
 * compiler. Prints each failed check, and "right" as its last line when there was none.
 */
#include <kolibri/kolibri.hpp>

#include <cstdio>
#include <string>
#include <thread>

KOL_HANDLE(String, "java/lang/String", java_lang_Object)
KOL_HANDLE(Integer, "java/lang/Integer", java_lang_Object)
KOL_HANDLE(List, "java/util/List", java_lang_Object)
KOL_HANDLE(Iterator, "java/util/Iterator", java_lang_Object)

using Parse = kolibri::static_method<"java/lang/Integer", "parseInt", jint(String)>;
using ValueOf = kolibri::static_method<"java/lang/Integer", "valueOf", Integer(jint)>;
using IntValue = kolibri::method<"java/lang/Integer", "intValue", jint() noexcept>;
using CopyOf =
    kolibri::static_method<"java/util/Collections", "singletonList", List(java_lang_Object)>;
using GetIterator = kolibri::method<"java/util/List", "iterator", Iterator()>;
using HasNext = kolibri::method<"java/util/Iterator", "hasNext", jboolean() noexcept>;
using Next = kolibri::method<"java/util/Iterator", "next", java_lang_Object()>;
using Clear = kolibri::method<"java/util/List", "clear", void()>;
using Gc = kolibri::static_method<"java/lang/System", "gc", void()>;
using Missing = kolibri::method<"java/util/List", "shrink", void()>;

static int failures;

static void check(bool held, const char *what)
{
    if (!held) {
        std::printf("failed: %s\n", what);
        failures++;
    }
}

static std::string taken(JNIEnv *env)
{
    char buffer[256];
    jthrowable thrown = kol_take(env);
    if (!thrown) {
        return "nothing";
    }
    kol_throwable_text(env, thrown, buffer, sizeof buffer);
    return std::string(buffer).substr(0, std::string(buffer).find(':'));
}

static void calls(JNIEnv *env)
{
    kolibri::frame frame(env, 32);
    auto number = kolibri::make_text<String>(env, "42");
    check(bool(number), "make_text");
    auto parsed = Parse::call(env, number.value());
    check(parsed && parsed.value() == 42, "parseInt");
    auto bad = Parse::call(env, kolibri::make_text<String>(env, "4x").value());
    check(!bad && bad.status() == KOL_EJAVA && bad.value() == 0, "parseInt of nonsense");
    check(taken(env) == "java.lang.NumberFormatException", "its exception");
    auto boxed = ValueOf::call(env, 7);
    check(boxed && IntValue::call(env, boxed.value()) == 7, "boxing");
    auto list = CopyOf::call(env, Integer__up(boxed.value()));
    auto iterator = GetIterator::call(env, list.value());
    check(HasNext::call(env, iterator.value()), "hasNext");
    check(bool(Next::call(env, iterator.value())), "next");
    check(!HasNext::call(env, iterator.value()), "no next");
    check(!Next::call(env, iterator.value()), "past the end");
    check(taken(env) == "java.util.NoSuchElementException", "its exception");
    check(!Clear::call(env, list.value()), "clear of an immutable list");
    check(taken(env) == "java.lang.UnsupportedOperationException", "its exception");
    check(!Missing::call(env, list.value()), "a method that is not there");
    check(taken(env) == "java.lang.NoSuchMethodError", "its exception");
    check(!HasNext::call(env, Iterator__null()), "a null receiver");
    check(taken(env) == "java.lang.NullPointerException", "its exception");
}

static void lifetimes(JNIEnv *env)
{
    kolibri::global<Integer> kept;
    {
        kolibri::frame frame(env, 8);
        kept = kolibri::global<Integer>(env, ValueOf::call(env, 123456).value());
        kolibri::local<Integer> again(env, ValueOf::call(env, 5).value());
        check(IntValue::call(env, again.get()) == 5, "local");
    }
    check(bool(Gc::call(env)), "gc");
    check(kept && IntValue::call(env, kept.get()) == 123456, "global");
    std::thread([moved = std::move(kept)]() mutable {
        kolibri::attached here("from C++");
        check(here && IntValue::call(here.env(), moved.get()) == 123456, "attached");
    }).join();
    check(!kept, "moved from");
    kolibri::frame frame(env, 8);
    Integer survivor = frame.close(ValueOf::call(env, 1000).value());
    check(IntValue::call(env, survivor) == 1000, "survivor");
    kolibri::text text(env,
                       kolibri::make_text<String>(env, std::string_view("a\0b", 3)).value().raw);
    check(text && text.view() == std::string_view("a\0b", 3), "text");
}

int main()
{
    JavaVM *vm = nullptr;
    void *made = nullptr;
    char quiet[] = "-XX:TieredStopAtLevel=1";
    JavaVMOption option = {quiet, nullptr};
    JavaVMInitArgs arguments = {JNI_VERSION_1_8, 1, &option, JNI_FALSE};
    if (JNI_CreateJavaVM(&vm, &made, &arguments) != JNI_OK) {
        return 2;
    }
    JNIEnv *env = nullptr;
    check(kol_load(vm, nullptr, &env) == KOL_OK, "load");
    calls(env);
    lifetimes(env);
    kol_unload(vm);
    check(kol_load(vm, nullptr, &env) == KOL_OK, "load again");
    calls(env);
    std::puts(failures ? "wrong" : "right");
    std::fflush(stdout);
    std::_Exit(failures != 0);
}
