/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * Starting the JVM of a test and listening to what it prints.
 *
 * HotSpot prints reports of -Xcheck:jni through its vfprintf hook, line by line or in pieces; a
 * piece that holds one of the known openings is a report.
 */
#include "testing/jvm.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static JavaVM *the_vm;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int reports;
static char first_report[256];

static void listen(const char *text)
{
    static const char *const openings[] = {"WARNING in native", "FATAL ERROR in native",
                                           "WARNING: JNI local refs"};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < sizeof openings / sizeof openings[0]; i++) {
        if (strstr(text, openings[i])) {
            if (reports++ == 0) {
                size_t size = strcspn(text, "\n");
                size = size < sizeof first_report ? size : sizeof first_report - 1;
                memcpy(first_report, text, size);
                first_report[size] = 0;
            }
            break;
        }
    }
    pthread_mutex_unlock(&lock);
}

static jint JNICALL print(FILE *stream, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));

static jint JNICALL print(FILE *stream, const char *format, va_list arguments)
{
    char text[2048];
    int size = vsnprintf(text, sizeof text, format, arguments);
    listen(text);
    fputs(text, stream);
    fflush(stream);
    return size;
}

JavaVM *jvm_vm(void)
{
    return the_vm;
}

int jvm_reports(char *line, size_t size)
{
    pthread_mutex_lock(&lock);
    int count = reports;
    reports = 0;
    snprintf(line, size, "%s", count ? first_report : "");
    pthread_mutex_unlock(&lock);
    return count;
}

void jvm_require_none(JNIEnv *env)
{
    jboolean is_pending = (*env)->ExceptionCheck(env);
    if (is_pending) {
        (*env)->ExceptionDescribe(env);
    }
    REQUIRE(!is_pending);
}

enum { OPTIONS_MAX = 12 };

/* Cuts a text at its single spaces into options. */
static jint split(char *text, JavaVMOption *options)
{
    jint count = 0;
    while (*text && count < OPTIONS_MAX - 5) {
        char *end = text + strcspn(text, " ");
        options[count].optionString = text;
        options[count++].extraInfo = NULL;
        text = *end ? end + 1 : end;
        *end = 0;
    }
    return count;
}

/* What the test chose comes last, so it wins. */
static JNIEnv *start(const char *class_path, const char *given)
{
    JNIEnv *env = NULL;
    char path[1024];
    char chosen[256];
    char serial[] = "-XX:+UseSerialGC";
    char quick[] = "-XX:TieredStopAtLevel=1";
    char crash[] = "-XX:+ErrorFileToStderr";
    char hook[] = "vfprintf";
    jint (*hooked)(FILE *, const char *, va_list) = print;
    JavaVMOption options[OPTIONS_MAX] = {
        {path, NULL}, {serial, NULL}, {quick, NULL}, {crash, NULL}, {hook, NULL}};
    JavaVMInitArgs arguments = {JNI_VERSION_1_8, 5, options, JNI_FALSE};
    memcpy(&options[4].extraInfo, &hooked, sizeof hooked);
    snprintf(path, sizeof path, "-Djava.class.path=%s", class_path);
    snprintf(chosen, sizeof chosen, "%s", given);
    arguments.nOptions += split(chosen, options + 5);
    if (JNI_CreateJavaVM(&the_vm, (void **)&env, &arguments) != JNI_OK) {
        return NULL;
    }
    return env;
}

void jvm_run(const char *class_path, const char *option, jvm_body body)
{
    char line[256];
    JNIEnv *env = start(class_path, option);
    REQUIRE(env != NULL);
    body(env);
    jvm_require_none(env);
    int count = jvm_reports(line, sizeof line);
    CHECK_STR(line, "");
    CHECK_INT(count, 0);
}
