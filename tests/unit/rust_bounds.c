/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rust names made to be deep or long, or to become so through back references. */
#include <limits.h>
#include <pthread.h>

#include "demangle/rust.h"

#include "rust_check.h"

#define LONGEST 65536

/* As small as musl's thread stacks; frames of sanitizers and of s390x are larger. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define LARGE_FRAMES
#endif
#endif
#if defined(LARGE_FRAMES) || defined(__SANITIZE_ADDRESS__)
#define STACK_BYTES (2u << 20)
#elif defined(__s390x__)
#define STACK_BYTES (256u << 10)
#else
#define STACK_BYTES (PTHREAD_STACK_MIN > 131072 ? PTHREAD_STACK_MIN : 131072)
#endif

struct asked {
    const struct text *mangled;
    struct demangle_options config;
    int result;
};

static void *ask(void *context)
{
    struct asked *asked = context;

    asked->result = rust_check(asked->mangled->data, asked->mangled->length, asked->config);
    return NULL;
}

/* The result for a name in a thread with a small stack; the name is in rust_name. */
static int asked(const struct text *mangled, bool shorten)
{
    struct asked asked = {.mangled = mangled, .config.shorten = shorten, .result = 1};
    pthread_attr_t attributes;
    pthread_t thread;

    if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, STACK_BYTES) ||
        pthread_create(&thread, &attributes, ask, &asked) || pthread_join(thread, NULL))
        WRONG("a thread");
    pthread_attr_destroy(&attributes);
    CHECK(rust_name.length <= LONGEST && rust_name.room <= 2 * LONGEST);
    return asked.result;
}

static void add_times(struct text *text, const char *what, size_t times)
{
    while (times--)
        text_add(text, what);
}

/* before, within `count` times, middle, behind `count` times, after */
static int nested(const char *const *parts, size_t count)
{
    AUTO_TEXT mangled = {0};

    text_add(&mangled, parts[0]);
    add_times(&mangled, parts[1], count);
    text_add(&mangled, parts[2]);
    add_times(&mangled, parts[3], count);
    text_add(&mangled, parts[4]);
    int result = asked(&mangled, false);
    CHECK_NUMBER(asked(&mangled, true), result);
    return result;
}

/* Nesting of ninety, of any kind, is more than real programs have. */
TEST(depth)
{
    static const char *const kinds[][5] = {
        {"_RMC0", "R", "h", "", ""}, {"_RMC0", "T", "h", "E", ""}, {"_RMC0", "S", "h", "", ""},
        {"_RMC0", "A", "h", "j1_", ""}, {"_R", "Nv", "C1a", "1b", ""},
        {"_RMC0", "IC1a", "h", "E", ""},
        {"_RMC0", "F", "u", "Eu", ""}, {"_RMC0", "FE", "z", "", ""},
        {"_RMC0", "DNtC1a1bp1c", "u", "EL_", ""}, {"_RMC0", "DIC1a", "u", "EEL_", ""},
        {"_RIC0K", "R", "h1_", "", "E"}, {"_RIC0K", "T", "h1_", "E", "E"},
        {"_RIC0K", "VC1aS1b", "h1_", "E", "E"}, {"_RIC0K", "VIC1aK", "h1_", "EU", "E"},
        {"_RMC0Wm", "O", "u", "E", ""}, {"_RMC0", "W", "h", "u", ""},
        {"_R", "Y", "h", "C1a", ""}, {"_R", "Yh", "C1a", "", ""}, {"_R", "MC0", "h", "", ""},
        {"_RNv", "M", "C1a", "h", "1f"}};

    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        int before = test_failures_here;
        CHECK_NUMBER(nested(kinds[i], 3), 0);
        CHECK_NUMBER(nested(kinds[i], 90), 0);
        CHECK_NUMBER(nested(kinds[i], 1000), -EINVAL);
        CHECK_NUMBER(nested(kinds[i], 10000), -EINVAL);
        if (test_failures_here > before)
            printf("  kind %zu, %s\n", i, kinds[i][1]);
    }
}

static void add_back(struct text *text, size_t place)
{
    static const char DIGITS[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

    text_add(text, "B");
    if (place > 62)
        text_append(text, &DIGITS[(place - 1) / 62], 1);
    if (place)
        text_append(text, &DIGITS[(place - 1) % 62], 1);
    text_add(text, "_");
}

/* Tuples, each twice the one before. */
static void make_doubling(struct text *mangled, unsigned levels)
{
    size_t last = 0;

    text_add(mangled, "_RIC1a");
    for (unsigned i = 0; i < levels; i++) {
        size_t place = mangled->length - 2;
        text_add(mangled, "T");
        if (i) {
            add_back(mangled, last);
            add_back(mangled, last);
        } else {
            text_add(mangled, "uu");
        }
        text_add(mangled, "E");
        last = place;
    }
    text_add(mangled, "E");
}

TEST(what_doubles)
{
    AUTO_TEXT mangled = {0};

    make_doubling(&mangled, 3);
    CHECK_NUMBER(asked(&mangled, false), 0);
    CHECK_STRING(rust_name.data, "a::<((), ()), (((), ()), ((), ())), "
                                 "((((), ()), ((), ())), (((), ()), ((), ())))>");
    text_clear(&mangled);
    make_doubling(&mangled, 60);
    CHECK_NUMBER(asked(&mangled, false), -EINVAL);
    CHECK_NUMBER(asked(&mangled, true), 0);
    CHECK_STRING(rust_name.data, "a::<...>");
}

/* Paths without a name: they grow, but nothing is printed. */
TEST(what_grows_unseen)
{
    AUTO_TEXT mangled = {0};

    text_add(&mangled, "_RIC1aNt");
    add_times(&mangled, "Nt", 100);
    text_add(&mangled, "C0");
    add_times(&mangled, "0", 101);
    for (unsigned i = 0; i < 50; i++)
        text_add(&mangled, "B4_");
    text_add(&mangled, "E");
    CHECK_NUMBER(asked(&mangled, false), 0);
    mangled.length--;
    for (unsigned i = 0; i < 15000; i++)
        text_add(&mangled, "B4_");
    text_add(&mangled, "E");
    CHECK_NUMBER(asked(&mangled, false), -EINVAL);
}

/* A name of the greatest length is whole; with one more byte there is none. */
TEST(length)
{
    AUTO_TEXT mangled = {0};

    for (unsigned i = 0; i < 3; i++) {
        size_t count = i == 2 ? LONGEST + 1 : LONGEST;
        text_clear(&mangled);
        text_format(&mangled, "%s%zu", i == 1 ? "_ZN" : "_RC", count);
        add_times(&mangled, "a", count);
        text_add(&mangled, i == 1 ? "17h0123456789abcdefE" : "");
        CHECK_NUMBER(asked(&mangled, false), i == 2 ? -EINVAL : 0);
        CHECK_NUMBER(rust_name.length, i == 2 ? 0 : LONGEST);
        text_add(&mangled, ".cold");
        text_clear(&rust_name);
        CHECK_NUMBER(rust_demangle(mangled.data, mangled.length, &(struct demangle_options){0},
                                   &rust_name), -EINVAL);
    }
}

TEST_MAIN
