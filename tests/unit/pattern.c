/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Patterns: what each form means, which ones are refused, and that any text is safe. */
#include "unit/test.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "base/suggest.h"
#include "base/text.h"
#include "base/util.h"
#include "find/find.h"
#include "find/pattern.h"
#include "find/place.h"

static struct text error;

static int parse(struct pattern *pattern, const char *typed, bool is_regex)
{
    text_clear(&error);
    return pattern_parse(pattern, typed, is_regex, &error);
}

TEST(kernel_functions)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "vfs_read", false), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_KERNEL_FUNCTION);
    CHECK_NUMBER(pattern.name.kind, MATCH_PLAIN);
    CHECK_STRING(pattern.name.text, "vfs_read");
    CHECK(!pattern.at_return);
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "p::vfs_read", false), 0);
    CHECK_STRING(pattern.name.text, "vfs_read");
    CHECK(!pattern.at_return);
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "r::vfs_*", false), 0);
    CHECK_NUMBER(pattern.name.kind, MATCH_GLOB);
    CHECK(pattern.at_return);
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "vfs_read+0x10", false), 0);
    CHECK_STRING(pattern.name.text, "vfs_read");
    CHECK_NUMBER(pattern.offset, 16);
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "p::vfs_read+16", false), 0);
    CHECK_NUMBER(pattern.offset, 16);
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "p::kernel::print::format", false), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_KERNEL_FUNCTION);
    CHECK_STRING(pattern.name.text, "kernel::print::format");
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "p::a:b", false), -EINVAL);
}

TEST(tracepoints)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "t:sched:sched_switch", false), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_TRACEPOINT);
    CHECK_STRING(pattern.category.text, "sched");
    CHECK_STRING(pattern.name.text, "sched_switch");
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "t:sch*:*", false), 0);
    CHECK(matcher_matches(&pattern.category, "sched"));
    CHECK(matcher_matches(&pattern.name, ""));
    CHECK(matcher_matches(&pattern.name, "sched_switch"));
    CHECK(!matcher_matches(&pattern.category, "task"));
    pattern_free(&pattern);

    /* The colons of a character class do not split the pattern. */
    CHECK_NUMBER(parse(&pattern, "t:^s[[:alpha:]]+$:^[]:]*sched_", true), 0);
    CHECK_STRING(pattern.category.text, "^s[[:alpha:]]+$");
    CHECK_STRING(pattern.name.text, "^[]:]*sched_");
    CHECK(matcher_matches(&pattern.category, "sched"));
    pattern_free(&pattern);
}

/* Each class has the characters that ctype.h says. */
TEST(character_classes)
{
    static const struct {
        const char *typed;
        int (*has)(int character);
    } classes[] = {
        {"^[[:alpha:]]$", isalpha}, {"^[[:alnum:]]$", isalnum}, {"^[[:upper:]]$", isupper},
        {"^[[:lower:]]$", islower}, {"^[[:digit:]]$", isdigit}, {"^[[:punct:]]$", ispunct},
        {"^[[:space:]]$", isspace}, {"^[[:graph:]]$", isgraph}, {"^[[:xdigit:]]$", isxdigit},
    };
    struct matcher matcher;

    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        CHECK_NUMBER(matcher_make(&matcher, classes[i].typed, true, &error), 0);
        for (int character = 1; character < 128; character++) {
            const char name[] = {(char)character, '\0'};
            CHECK_NUMBER(matcher_matches(&matcher, name), !!classes[i].has(character));
        }
        matcher_free(&matcher);
    }
}

TEST(user_functions)
{
    static const struct {
        const char *typed, *library, *name;
        bool at_return;
        uint64_t offset;
    } forms[] = {
        {"c:malloc", "c", "malloc", false, 0},
        {"p:c:malloc", "c", "malloc", false, 0},
        {"r:c:malloc", "c", "malloc", true, 0},
        {"bash:readline", "bash", "readline", false, 0},
        {"p:/path/bin:func", "/path/bin", "func", false, 0},
        {"/path+1/b*n:func", "/path+1/b*n", "func", false, 0},
        {"./a.out:main", "./a.out", "main", false, 0},
        {"libc.so.6:mem*", "libc.so.6", "mem*", false, 0},
        {"c:malloc+4", "c", "malloc", false, 4},
        {"p:c:malloc+0x10", "c", "malloc", false, 16},
        {"p:p:f", "p", "f", false, 0},
        {"r:/a b\\[x\xff:f", "/a b\\[x\xff", "f", true, 0},
        {"/a:std::f", "/a", "std::f", false, 0},
        {"/a:A::f(int*, B&)", "/a", "A::f(int*, B&)", false, 0},
        {"/a:A::f(int)+0x8", "/a", "A::f(int)", false, 8},
        {"/a:operator+", "/a", "operator+", false, 0},
        {"/a:A::operator++", "/a", "A::operator++", false, 0},
        {"/a:A::operator+(A const&)", "/a", "A::operator+(A const&)", false, 0},
        {"r:/a:A::operator++(int)", "/a", "A::operator++(int)", true, 0},
        {"/a:A::operator+=(A)+4", "/a", "A::operator+=(A)", false, 4},
        {"/a:A::operator++4", "/a", "A::operator+", false, 4},
        {"/a:A::operator+++0x4", "/a", "A::operator++", false, 4},
        {"/a:my_operator+4", "/a", "my_operator", false, 4},
        {"/a:decltype ({parm#1}+{parm#2}) f<int>(int)", "/a",
         "decltype ({parm#1}+{parm#2}) f<int>(int)", false, 0},
        {"/a:A<(1)+(2)>::f+4", "/a", "A<(1)+(2)>::f", false, 4},
    };

    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct pattern pattern;
        CHECK_NUMBER(parse(&pattern, forms[i].typed, false), 0);
        CHECK_NUMBER(pattern.kind, PATTERN_USER_FUNCTION);
        CHECK_STRING(pattern.library, forms[i].library);
        CHECK_STRING(pattern.name.text, forms[i].name);
        CHECK_NUMBER(pattern.at_return, forms[i].at_return);
        CHECK_NUMBER(pattern.offset, forms[i].offset);
        CHECK(!pattern.is_address);
        pattern_free(&pattern);
    }
}

/* Each means the same as our own spelling. */
TEST(dialects)
{
    static const char *const same[][2] = {
        {"kprobe:vfs_read", "vfs_read"}, {"kretprobe:vfs_*", "r::vfs_*"},
        {"kprobe:vfs_read+0x10", "p::vfs_read+0x10"},
        {"kprobe:kernel::print::format", "p::kernel::print::format"},
        {"tracepoint:sched:sched_*", "t:sched:sched_*"}, {"uprobe:c:malloc", "c:malloc"},
        {"uprobe:/bin/a:f+4", "/bin/a:f+4"}, {"uretprobe:c:malloc", "r:c:malloc"},
        {"uprobe:/bin/a:0x1234", "/bin/a:0x1234"},
        {"usdt:/bin/a:probe", "u:/bin/a:probe"}, {"usdt:c:libc:setjmp", "u:c:libc:setjmp"},
    };

    for (size_t i = 0; i < COUNT_OF(same); i++) {
        struct pattern theirs, ours;
        CHECK_NUMBER(parse(&theirs, same[i][0], false), 0);
        CHECK_NUMBER(parse(&ours, same[i][1], false), 0);
        CHECK_NUMBER(theirs.kind, ours.kind);
        CHECK_NUMBER(theirs.at_return, ours.at_return);
        CHECK_NUMBER(theirs.offset, ours.offset);
        CHECK_NUMBER(theirs.is_address, ours.is_address);
        CHECK_NUMBER(theirs.address, ours.address);
        CHECK_NUMBER(theirs.name.kind, ours.name.kind);
        CHECK_STRING(theirs.name.text, ours.name.text);
        CHECK_STRING(theirs.category.text ? theirs.category.text : "",
                     ours.category.text ? ours.category.text : "");
        CHECK_STRING(theirs.library ? theirs.library : "", ours.library ? ours.library : "");
        CHECK_STRING(theirs.typed, same[i][0]);
        pattern_free(&theirs);
        pattern_free(&ours);
    }
    static const char *const wrong[] = {
        "kprobe:", "kprobe:a:b", "uprobe:f", "uprobe::f", "uretprobe:", "tracepoint:sched",
        "tracepoint:sched:", "usdt:a", "usdt:a:b:c:d",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct pattern pattern;
        int result = parse(&pattern, wrong[i], false);
        /* uprobe::f is a kernel function, like p::f. */
        CHECK_NUMBER(result, !strcmp(wrong[i], "uprobe::f") ? 0 : -EINVAL);
        if (!result)
            pattern_free(&pattern);
    }
}

/* a:b may be a tracepoint, unless it is said to be in a program. */
TEST(as_tracepoints)
{
    static const char *const others[] = {
        "p:sched:sched_switch", "r:sched:sched_switch", "sched:sched_switch+4", "./sched:x",
        "sched:0x10", "uprobe:sched:sched_switch", "sched_switch", "u:sched:sched_switch",
    };
    struct pattern pattern, tracepoint;

    CHECK_NUMBER(parse(&pattern, "sched:sched_*", false), 0);
    CHECK_NUMBER(pattern_as_tracepoint(&tracepoint, &pattern), 0);
    CHECK_NUMBER(tracepoint.kind, PATTERN_TRACEPOINT);
    CHECK_STRING(tracepoint.category.text, "sched");
    CHECK_NUMBER(tracepoint.name.kind, MATCH_GLOB);
    CHECK_STRING(tracepoint.typed, "sched:sched_*");
    pattern_free(&tracepoint);
    pattern_free(&pattern);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        CHECK_NUMBER(parse(&pattern, others[i], false), 0);
        CHECK_NUMBER(pattern_as_tracepoint(&tracepoint, &pattern), -ENOENT);
        pattern_free(&pattern);
    }
}

/* Names with all of the words come after those with typos. */
TEST(near_by_words)
{
    static const char *const names[] = {
        "t:sched:sched_process_fork", "t:sched:sched_process_exec", "t:sched:sched_frok",
        "t:sched:sched_process_forked", "t:other:process_fork",
    };
    struct suggestions suggestions = {.wanted = "t:sched:sched_fork"};
    AUTO_TEXT text = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        suggest(&suggestions, names[i]);
        suggest_by_words(&suggestions, names[i]);
    }
    suggestions_add(&suggestions, &text);
    CHECK_STRING(text.data, "; near: t:sched:sched_frok, t:sched:sched_process_fork");
    suggestions_free(&suggestions);
}

TEST(user_addresses)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "/path/bin:0x1234", false), 0);
    CHECK(pattern.is_address);
    CHECK_NUMBER(pattern.address, 0x1234);
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "p:/path/bin:0xffffffffffffffff", true), 0);
    CHECK(pattern.is_address);
    CHECK(pattern.address == UINT64_MAX);
    pattern_free(&pattern);
}

/* With -r the library is plain text, and ends at the first colon. */
TEST(user_expressions)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "/a[:b", true), 0);
    CHECK_STRING(pattern.library, "/a[");
    CHECK_STRING(pattern.name.text, "b");
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "r:c:^m[[:lower:]]+$", true), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_USER_FUNCTION);
    CHECK_STRING(pattern.library, "c");
    CHECK(matcher_matches(&pattern.name, "malloc"));
    CHECK(!matcher_matches(&pattern.name, "mALLOC"));
    pattern_free(&pattern);
    /* With the colons of a class it is a kernel function. */
    CHECK_NUMBER(parse(&pattern, "^vfs_[[:lower:]]+$", true), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_KERNEL_FUNCTION);
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "u:c:^[[:lower:]]:setjmp|x", true), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_USDT);
    CHECK(matcher_matches(&pattern.category, "libc"));
    CHECK(matcher_matches(&pattern.name, "longsetjmp_target"));
    pattern_free(&pattern);
}

TEST(usdt_probes)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "u:pthread:pthread_create", false), 0);
    CHECK_NUMBER(pattern.kind, PATTERN_USDT);
    CHECK_STRING(pattern.library, "pthread");
    CHECK_STRING(pattern.name.text, "pthread_create");
    CHECK(matcher_matches(&pattern.category, "anybody"));
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "u:/path/bin:prov:probe", false), 0);
    CHECK_STRING(pattern.library, "/path/bin");
    CHECK_STRING(pattern.category.text, "prov");
    CHECK_STRING(pattern.name.text, "probe");
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "u:/path/bin:*", false), 0);
    CHECK_NUMBER(pattern.name.kind, MATCH_GLOB);
    CHECK(matcher_matches(&pattern.category, ""));
    pattern_free(&pattern);
    CHECK_NUMBER(parse(&pattern, "u:x:p*:*_start", false), 0);
    CHECK(matcher_matches(&pattern.category, "python"));
    CHECK(!matcher_matches(&pattern.category, "ruby"));
    pattern_free(&pattern);
}

TEST(regular_expressions)
{
    struct pattern pattern;

    CHECK_NUMBER(parse(&pattern, "^tcp_(send|recv)msg$", true), 0);
    CHECK(matcher_matches(&pattern.name, "tcp_sendmsg"));
    CHECK(!matcher_matches(&pattern.name, "mptcp_sendmsg"));
    CHECK(!matcher_matches(&pattern.name, "tcp_sendmsg_locked"));
    pattern_free(&pattern);

    /* It matches anywhere, as in grep -E; a plus repeats, it is not an offset. */
    CHECK_NUMBER(parse(&pattern, "o{2}k?_+1", true), 0);
    CHECK(matcher_matches(&pattern.name, "aook__1b"));
    CHECK(!matcher_matches(&pattern.name, "aok__1b"));
    pattern_free(&pattern);

    CHECK_NUMBER(parse(&pattern, "tcp_(", true), -EINVAL);
    CHECK(strstr(error.data, "tcp_("));
}

TEST(refusals)
{
    static const char *const wrong[] = {
        "",       ":",           "::",        "p:",       "p::",       "r::",          "t:",
        "t::",    "t:sched",     "t:sched:",  "t::x",     "vfs_read+", "vfs_read+zz",  "vfs_read+-1",
        "+",      "+1",          "vfs_*+4",   "r::f+4",   "f+0x1ffffffff", ":::",     "p:::",
        "p:::f",  "p::f:",       "p:malloc",  "r:malloc", "x::f",     ":malloc",       "c:",
        "p:c:",   "r:c:f+4",     "c:f+",      "c:f+g",    "c:*+4",    "c::",           "p:c::f",
        "u:",     "u:c",         "u::",       "u::x",     "u:::",     "u:c:",          "u:c::x",
        "u:c:p:", "u:c:p:x:y",   "/a:0x",     "/a:0xfg",  "/a:0x10000000000000000",   "/a:0x10+4",
        "/bin/sh:", "./a:",      "/a::f",     "r:",       "r:c",      "r:::f",         "p:/a",
    };
    struct pattern pattern;

    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        int result = parse(&pattern, wrong[i], false);
        if (result != -EINVAL || !error.length || strchr(error.data, '\n'))
            printf("  pattern \"%s\" gives %d and \"%s\"\n", wrong[i], result, error.data);
        CHECK(result == -EINVAL && error.length && !strchr(error.data, '\n'));
    }
}

/* What -r promises of every C library: POSIX's expressions, and the edges of words. */
TEST(what_matches)
{
    static const struct {
        const char *text, *yes, *no; /* names separated by blanks */
    } rows[] = {
        {"ab", "ab xaby", "a b ba"},
        {"^vfs_(read|write)$", "vfs_read vfs_write", "vfs_readv vfs_ vfs"},
        {"^a|b$", "ax xb", "xa bx"},
        {"^a\\.c$", "a.c", "abc"},
        {"^(ab){2,}$", "abab ababab", "ab"},
        {"^a{2,4}$", "aa aaa aaaa", "a aaaaa"},
        {"^[^a-c]+$", "xyz", "xa b"},
        {"^[[:digit:]_]+$", "12 1_2", "a1"},
        {"^\\w+$", "a_1", "a-b ::"},
        {"\\<read\\>", "read a-read read::x", "reader aread read_x"},
        {"\xc3\xa9", "caf\xc3\xa9", "cafe"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int yes = 0; yes < 2; yes++) {
            struct pattern pattern;
            char names[64];
            snprintf(names, sizeof(names), "%s", yes ? rows[i].yes : rows[i].no);
            CHECK_NUMBER(parse(&pattern, rows[i].text, true), 0);
            for (char *name = strtok(names, " "); name; name = strtok(NULL, " "))
                CHECK_NUMBER(matcher_matches(&pattern.name, name), yes);
            pattern_free(&pattern);
        }
}

/* Any bytes are parsed or refused, and the sanitizers find nothing. */
TEST(any_bytes)
{
    static const char letters[] = "pru:t*+[]^$().\\|{}0x1 \x01\xff~a";
    struct pattern pattern;
    char typed[24];

    srand(1);
    for (int round = 0, most = rounds(200000); round < most; round++) {
        size_t length = (size_t)rand() % (sizeof(typed) - 1);
        for (size_t i = 0; i < length; i++)
            typed[i] = letters[(size_t)rand() % (sizeof(letters) - 1)];
        typed[length] = '\0';
        if (!parse(&pattern, typed, round % 2)) {
            (void)matcher_matches(&pattern.name, "vfs_read");
            pattern_free(&pattern);
        } else {
            CHECK(error.length); /* refused, with a message */
        }
    }
}

/* fnmatch(3) has `*`, too: where it is the only special character, both must agree. */
TEST(globs_as_fnmatch)
{
    struct matcher matcher;
    char glob[10], name[10];

    srand(2);
    for (int round = 0, most = rounds(300000); round < most; round++) {
        size_t glob_length = 1 + (size_t)rand() % 8, name_length = (size_t)rand() % 8;
        for (size_t i = 0; i < glob_length; i++)
            glob[i] = "ab*"[rand() % 3];
        for (size_t i = 0; i < name_length; i++)
            name[i] = "ab"[rand() % 2];
        glob[glob_length] = name[name_length] = '\0';
        if (matcher_make(&matcher, glob, false, &error))
            continue;
        bool same = matcher_matches(&matcher, name) == !fnmatch(glob, name, 0);
        if (!same)
            printf("  \"%s\" and \"%s\"\n", glob, name);
        CHECK(same);
        matcher_free(&matcher);
    }
}

/* Wildcards of other tools are plain characters. */
TEST(only_the_star_is_special)
{
    struct matcher matcher;

    CHECK_NUMBER(matcher_make(&matcher, "a?[b].*\\", false, &error), 0);
    CHECK(matcher_matches(&matcher, "a?[b].\\"));
    CHECK(matcher_matches(&matcher, "a?[b].xyz\\"));
    CHECK(!matcher_matches(&matcher, "axb.\\"));
    matcher_free(&matcher);
}

static void offer_all(struct suggestions *suggestions)
{
    static const char *const names[] = {
        "vfs_write", "vfs_read", "vfs_readv", "vfs_rename", "ksys_read", "read_vfs", "vfs_read",
    };

    for (size_t i = 0; i < COUNT_OF(names); i++)
        suggest(suggestions, names[i]);
}

TEST(near_names)
{
    struct suggestions swapped = {.wanted = "vfs_raed"}, far = {.wanted = "tcp_sendmsg"};
    AUTO_TEXT list = {0};

    offer_all(&swapped);
    suggestions_add(&swapped, &list);
    CHECK_STRING(list.data, "; near: vfs_read, vfs_readv");
    suggestions_free(&swapped);

    text_clear(&list);
    offer_all(&far);
    suggestions_add(&far, &list);
    CHECK_STRING(list.data, "");
    suggestions_free(&far);
}

TEST(near_keeps_the_nearest)
{
    struct suggestions suggestions = {.wanted = "abcdefgh"};
    AUTO_TEXT list = {0};
    char long_name[300];

    memset(long_name, 'x', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    suggest(&suggestions, long_name);
    suggest(&suggestions, "");
    suggest(&suggestions, "abcdefxy");
    suggest(&suggestions, "abcdefxz");
    suggest(&suggestions, "abcdefgx");
    suggest(&suggestions, "abcdefgy");
    suggest(&suggestions, "bacdefgh");
    suggest(&suggestions, "xbcdefgh");
    suggestions_add(&suggestions, &list);
    CHECK_STRING(list.data, "; near: abcdefgx, abcdefgy, bacdefgh");
    suggestions_free(&suggestions);
}

static struct place place(const char *name, uint64_t address, bool at_return, bool named)
{
    return (struct place){
        .name = (char *)name, .address = address, .at_return = at_return, .named = named};
}

TEST(doubles)
{
    struct places places = {0};
    const struct place given[] = {
        place("b_alias", 0x20, false, false), place("a", 0x10, false, false),
        place("b", 0x20, false, true),        place("a", 0x10, false, false),
        place("a", 0x10, true, false),        place("static", 0x30, false, false),
        place("static", 0x40, false, false),  place("hidden", 0, false, false),
        place("hidden", 0, false, false),     place("hidden2", 0, false, false),
    };

    for (size_t i = 0; i < COUNT_OF(given); i++)
        CHECK_NUMBER(places_add(&places, &given[i]), 0);
    places_remove_doubles(&places);
    /* a, b by the typed name, both statics, both hidden ones, and the return. */
    CHECK_NUMBER(places.count, 7);
    CHECK_STRING(places.items[2].name, "a");
    CHECK_STRING(places.items[3].name, "b");
    CHECK_STRING(places.items[4].name, "static");
    CHECK_STRING(places.items[5].name, "static");
    CHECK(places.items[6].at_return);
    places_free(&places);
}

static struct place user_place(const char *file, uint64_t address, const char *name)
{
    return (struct place){.kind = PLACE_USER, .name = (char *)name, .address = address,
                          .file = file, .path = "/x", .file_offset = address};
}

/* One instruction is one place, even under several names, but not in several files. */
TEST(user_doubles)
{
    struct places places = {0};
    char same[] = "/bin/a";
    struct place given[] = {
        user_place("/bin/b", 0x10, "b:f"), user_place("/bin/a", 0x10, "a:g"),
        user_place(same, 0x10, "a:f"),     user_place("/bin/a", 0x18, "a:p:x"),
        user_place("/bin/a", 0x18, "a:f"), user_place("/bin/a", 0x10, "a:f"),
    };

    given[2].named = true;
    given[3].semaphore = 0x40;
    given[4].offset = 8;
    given[5].at_return = true;
    for (size_t i = 0; i < COUNT_OF(given); i++)
        CHECK_NUMBER(places_add(&places, &given[i]), 0);
    places_remove_doubles(&places);
    CHECK_NUMBER(places.count, 4);
    CHECK_STRING(places.items[0].name, "a:f");
    CHECK_STRING(places.items[1].name, "a:f");
    CHECK_NUMBER(places.items[1].semaphore, 0x40);
    CHECK(places.items[2].at_return);
    CHECK_STRING(places.items[3].file, "/bin/b");
    CHECK(places.items[0].file == places.items[2].file);
    places_free(&places);
}

static bool meet(const char *one, const char *other)
{
    char words[2][64];
    char *const list[] = {words[0], words[1]};
    struct find find = {.tracefs = -1, .kallsyms = -1};

    snprintf(words[0], sizeof(words[0]), "%s", one);
    snprintf(words[1], sizeof(words[1]), "%s", other ? other : "");
    CHECK_NUMBER(find_parse(&find, list, other ? 2 : 1, false, &error), 0);
    bool result = find_programs_meet(&find);
    find_close(&find);
    return result;
}

TEST(programs_that_meet)
{
    CHECK(!meet("vfs_read", "t:sched:sched_switch"));
    CHECK(!meet("t:syscalls:sys_enter_read", "t:syscalls:*"));
    CHECK(!meet("t:raw_syscalls:sys_enter", "vfs_read"));
    CHECK(meet("t:syscalls:sys_enter_read", "t:sched:sched_switch"));
    CHECK(meet("t:syscalls:sys_enter_read", "vfs_read"));
    CHECK(meet("t:sys*:*", NULL));
    CHECK(meet("c:malloc", NULL));
    CHECK(meet("c:malloc", "vfs_read"));
    CHECK(meet("u:c:setjmp", "t:sched:sched_switch"));
}

int main(void)
{
    run_tests();
    text_free(&error);
    return tests_done();
}
