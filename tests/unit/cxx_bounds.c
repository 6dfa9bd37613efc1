/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* C++ names that are long, deep or grow when printed: printing ends, in little memory. */
#include <pthread.h>

#include "demangle/demangle.h"
#include "test.h"

#define LONG 65000
#ifdef __s390x__
#define STACK_BYTES (256u << 10)
#else
#define STACK_BYTES (128u << 10)
#endif
/* How long names may become. */
#define MOST (128 * 1024)

static const struct demangle_options none;

static void add_times(struct text *name, const char *piece, size_t times)
{
    while (times--)
        text_add(name, piece);
}

/* Long names that repeat a piece, with something before and after it. */
static const struct {
    const char *before, *piece, *behind;
} long_names[] = {
    {"_Z1f", "i", ""},
    {"_Z1f", "P", "i"},
    {"_Z1f", "K", "i"},
    {"_Z1f", "A1_", "i"},
    {"_Z1f", "1A", ""},
    {"_Z1f", "S_", ""},
    {"_Z1f1A", "PS_", ""},
    {"_Z1f", "F", "v"},
    {"_Z1f", "PFv", ""},
    {"_Z1f", "Dp", "i"},
    {"_Z1fI", "J", ""},
    {"_Z1fI", "i", "Evv"},
    {"_Z1fIi", "i", "EvT0_"},
    {"_Z1fI", "1AI", ""},
    {"_Z1fIX", "ng", "Li1EEEvv"},
    {"_Z1fIX", "plLi1E", "Li1EEEvv"},
    {"_Z1fIXil", "Li1E", "EEEvv"},
    {"_Z1fIX", "sr1A", ""},
    {"_Z1fIX", "cvsr1AI", ""},
    {"_ZN", "1A", "E"},
    {"_ZN1A", "B1a", "E"},
    {"_ZN1A", "IiE", "E"},
    {"_Z", "Z", "1fvE1xE"},
    {"_Z", "Z1fvE", "1x"},
    {"_Z1fv", ".a", ""},
    {"_Z1fIJ", "i", "EEvDpT_"},
    {"_Z1f", "M1A", "i"},
    {"_Z1f", "UlvE", "_"},
    {"_ZN1A", "UlvE_", "E"},
    {"_Z1fIL_", "Z1gIL_", ""},
    {"_Z", "GR", "1x"},
    {"_Z1fDT", "cl", "EE"},
    {"_Z1fDTrqT", "i", "EE"},
    {"_Z1f", "U1a", "i"},
    {"_ZW1a", "W1b", "1fv"},
    {"_ZN1Acv", "cv", "i"},
};

static void check_ends(const struct text *name)
{
    AUTO_TEXT text = {0};
    int result = demangle(name->data, name->length, &none, &text);

    CHECK(result == 0 || result == -EINVAL);
    CHECK(result || (text.length && text.length == strlen(text.data)));
    CHECK(!result || !text.length);
    CHECK(text.length <= MOST + name->length * 12);
    CHECK(text.room <= 4 * 1024 * 1024);
}

TEST(long_ones)
{
    for (size_t i = 0; i < sizeof(long_names) / sizeof(*long_names); i++) {
        AUTO_TEXT name = {0};
        text_add(&name, long_names[i].before);
        add_times(&name, long_names[i].piece, LONG / strlen(long_names[i].piece));
        text_add(&name, long_names[i].behind);
        check_ends(&name);
    }
}

/* Each parameter is a template of two of the previous one: printed, the n-th is 2^n long. */
TEST(doubling)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    AUTO_TEXT name = {0}, text = {0};

    text_add(&name, "_Z1fN1A1BE"); /* S_ is A, S0_ is A::B */
    text_add(&name, "S_IS0_S0_E");  /* S1_ is A<A::B, A::B> */
    for (int i = 1; i < 34; i++)
        text_format(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
    CHECK_NUMBER(demangle(name.data, name.length, &none, &text), -EINVAL);
    CHECK_NUMBER(text.length, 0);
    text_clear(&name);
    text_add(&name, "_Z1fN1A1BES_IS0_S0_E");
    for (int i = 1; i < 6; i++)
        text_format(&name, "S_IS%c_S%c_E", digits[i], digits[i]);
    CHECK_NUMBER(demangle(name.data, name.length, &none, &text), 0);
    CHECK(text.length > 64 * 4);
}

/* Expansions of expansions of nothing: no text, but steps. */
TEST(empty_expansions)
{
    AUTO_TEXT name = {0};

    text_add(&name, "_Z1fIJ");
    add_times(&name, "JE", 200);
    text_add(&name, "EEv");
    add_times(&name, "Dp1AIDpT_E", 2000);
    check_ends(&name);
    text_clear(&name);
    text_add(&name, "_Z1fIJ");
    add_times(&name, "i", 200);
    text_add(&name, "EEvDp1AIJ");
    add_times(&name, "Dp1BIDpT_T_E", 200);
    text_add(&name, "EE");
    check_ends(&name);
}

/* A template that is its own argument. */
TEST(endless)
{
    static const char *const names[] = {
        "_Z1fIT_Evv",    "_Z1fIT_EvT_",      "_Z1fIPT_EvT_",       "_Z1fIRT_EvOT_",
        "_Z1fIT0_T_EvT_", "_Z1fIJT_EEvDpT_", "_Z1fIJDpT_EEvDpT_", "_ZN1AcvT_IT_EEv",
        "_Z1fIKT_EvT_",  "_Z1fIA1_T_EvPT_", "_Z1fIJDpT_EEDTsZT_Ev",
        "_Z1fIJDpT_EEDTsPDpT_EEv", "_Z1fIJDpT0_EJDpT_EEDTsZT_Ev",
    };
    AUTO_TEXT text = {0};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        CHECK_NUMBER(demangle(names[i], strlen(names[i]), &none, &text), -EINVAL);
        CHECK_NUMBER(text.length, 0);
    }
}

/* Each reference to the one before it goes deeper, however short the name is. */
TEST(deep_by_references)
{
    static const struct {
        const char *before, *behind;
        unsigned made; /* possible back references, the last of which is the whole */
    } kinds[] = {
        {"P", "", 1}, {"Fv", "E", 1}, {"PFv", "E", 2}, {"A2_", "", 1}, {"1AI", "E", 2},
        {"Z1gvEUl", "E_", 1}, {"Z1g", "E1x", 1}, {"DTcv", "Li1EE", 1}, {"M1A", "", 2},
        {"1AIXsr", "1bEE", 2}, {"1AIXcvnt", "Li1EEE", 3}, {"N1AI", "E1BE", 3}, {"U1a", "", 1},
    };
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        AUTO_TEXT name = {0};
        text_add(&name, "_Z1f1A"); /* S_ */
        for (unsigned last = 0; last < 1000; last += kinds[i].made) {
            text_format(&name, "%sS", kinds[i].before);
            if (last > 36)
                text_append(&name, &digits[(last - 1) / 36], 1);
            if (last)
                text_append(&name, &digits[(last - 1) % 36], 1);
            text_format(&name, "_%s", kinds[i].behind);
        }
        check_ends(&name);
    }
}

/* Names may be nested as deeply as in real programs, and more. */
TEST(depth_of_real_names)
{
    AUTO_TEXT name = {0}, text = {0}, want = {0};

    text_add(&name, "_Z1f");
    text_add(&want, "f(");
    add_times(&name, "1AI", 40);
    add_times(&want, "A<", 40);
    text_add(&name, "i");
    text_add(&want, "int");
    add_times(&name, "E", 40);
    text_add(&want, ">");
    add_times(&want, " >", 39);
    text_add(&want, ")");
    CHECK_NUMBER(demangle(name.data, name.length, &none, &text), 0);
    CHECK_STRING(text.data, want.data);
}

static void *all(void *unused)
{
    (void)unused;
    long_ones();
    doubling();
    empty_expansions();
    endless();
    deep_by_references();
    return NULL;
}

/*
 * As much stack as musl's threads have; on s390x each function takes more. A name that goes deeper
 * would crash the program.
 */
TEST(small_stack)
{
    pthread_attr_t attributes;
    pthread_t thread;

    CHECK_NUMBER(pthread_attr_init(&attributes), 0);
    CHECK_NUMBER(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    int result = pthread_create(&thread, &attributes, all, NULL);
    CHECK_NUMBER(result, 0);
    if (!result)
        CHECK_NUMBER(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

TEST_MAIN
