/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Patterns: what each form means, which ones are refused, and that any text is safe. */
#include "unit/test.h"

#include <ctype.h>
#include <fnmatch.h>

#include "base/suggest.h"
#include "find/find.h"
#include "find/pattern.h"
#include "find/place.h"

static struct text error;

static int parse(struct pattern *pattern, const char *typed, bool is_regex)
{
    text_clear(&error);
    return pattern_parse(pattern, typed, is_regex, &error);
}

/* What a pattern becomes. */
struct form {
    const char *typed;
    const char *library, *category, *name; /* their texts; NULL: none, or of no matter */
    bool at_return, is_address;
    uint64_t offset, address;
    const char *yes, *no;                   /* names that it matches, or not, separated by blanks */
    const char *categories, *no_categories; /* and categories */
};

static void check_matches(const struct matcher *matcher, const char *names, bool matches)
{
    char each[128];

    snprintf(each, sizeof(each), "%s", names ? names : "");
    for (char *name = strtok(each, " "); name; name = strtok(NULL, " "))
        if (matcher_matches(matcher, name) != matches) {
            printf("  %s: %s\n", matcher->text, name);
            WRONG("what a pattern matches");
        }
}

static void check_form(const struct form *form, enum pattern_kind kind, bool is_regex)
{
    struct pattern pattern;

    if (parse(&pattern, form->typed, is_regex)) {
        printf("  %s: %s\n", form->typed, error.data);
        WRONG("a pattern is refused");
        return;
    }
    const int failures_before = test_failures_here;
    CHECK_NUMBER(pattern.kind, kind);
    if (form->library)
        CHECK_STRING(pattern.library, form->library);
    if (form->category)
        CHECK_STRING(pattern.category.text, form->category);
    if (form->name)
        CHECK_STRING(pattern.name.text, form->name);
    CHECK_NUMBER(pattern.at_return, form->at_return);
    CHECK_NUMBER(pattern.offset, form->offset);
    CHECK_NUMBER(pattern.is_address, form->is_address);
    CHECK_NUMBER(pattern.address, form->address);
    if (!is_regex && form->name)
        CHECK_NUMBER(pattern.name.kind, strchr(form->name, '*') ? MATCH_GLOB : MATCH_PLAIN);
    check_matches(&pattern.name, form->yes, true);
    check_matches(&pattern.name, form->no, false);
    check_matches(&pattern.category, form->categories, true);
    check_matches(&pattern.category, form->no_categories, false);
    if (test_failures_here > failures_before)
        printf("  that was %s\n", form->typed);
    pattern_free(&pattern);
}

static void check_forms(const struct form *forms, size_t count, enum pattern_kind kind, bool is_regex)
{
    for (size_t i = 0; i < count; i++)
        check_form(&forms[i], kind, is_regex);
}

TEST(kernel_functions)
{
    static const struct form forms[] = {
        {"vfs_read", .name = "vfs_read"},
        {"p::vfs_read", .name = "vfs_read"},
        {"r::vfs_*", .name = "vfs_*", .at_return = true},
        {"vfs_read+0x10", .name = "vfs_read", .offset = 16},
        {"p::vfs_read+16", .name = "vfs_read", .offset = 16},
        {"p::kernel::print::format", .name = "kernel::print::format"},
    };

    check_forms(forms, COUNT_OF(forms), PATTERN_KERNEL_FUNCTION, false);
}

TEST(tracepoints)
{
    static const struct form forms[] = {
        {"t:sched:sched_switch", .category = "sched", .name = "sched_switch"},
        {"t:sch*:*", .name = "*", .yes = "sched_switch", .categories = "sched", .no_categories = "task"},
    };
    /* The colons of a character class do not split the pattern. */
    static const struct form with_a_class = {"t:^s[[:alpha:]]+$:^[]:]*sched_", .category = "^s[[:alpha:]]+$",
                                             .name = "^[]:]*sched_", .categories = "sched"};

    check_forms(forms, COUNT_OF(forms), PATTERN_TRACEPOINT, false);
    check_form(&with_a_class, PATTERN_TRACEPOINT, true);
}

/* "" is a name, too. */
TEST(stars_match_nothing)
{
    static const char *const typed[] = {"t:sch*:*", "u:/path/bin:*"};

    for (size_t i = 0; i < COUNT_OF(typed); i++) {
        AUTO(pattern_free) struct pattern pattern;
        CHECK_NUMBER(parse(&pattern, typed[i], false), 0);
        CHECK(matcher_matches(&pattern.name, ""));
        CHECK_NUMBER(matcher_matches(&pattern.category, ""), pattern.kind == PATTERN_USDT);
    }
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
    static const struct form forms[] = {
        {"c:malloc", .library = "c", .name = "malloc"},
        {"p:c:malloc", .library = "c", .name = "malloc"},
        {"r:c:malloc", .library = "c", .name = "malloc", .at_return = true},
        {"bash:readline", .library = "bash", .name = "readline"},
        {"p:/path/bin:func", .library = "/path/bin", .name = "func"},
        {"/path+1/b*n:func", .library = "/path+1/b*n", .name = "func"},
        {"./a.out:main", .library = "./a.out", .name = "main"},
        {"libc.so.6:mem*", .library = "libc.so.6", .name = "mem*"},
        {"c:malloc+4", .library = "c", .name = "malloc", .offset = 4},
        {"p:c:malloc+0x10", .library = "c", .name = "malloc", .offset = 16},
        {"p:p:f", .library = "p", .name = "f"},
        {"r:/a b\\[x\xff:f", .library = "/a b\\[x\xff", .name = "f", .at_return = true},
        {"/a:std::f", .library = "/a", .name = "std::f"},
        {"/a:A::f(int*, B&)", .library = "/a", .name = "A::f(int*, B&)"},
        {"/a:A::f(int)+0x8", .library = "/a", .name = "A::f(int)", .offset = 8},
        {"/a:operator+", .library = "/a", .name = "operator+"},
        {"/a:A::operator++", .library = "/a", .name = "A::operator++"},
        {"/a:A::operator+(A const&)", .library = "/a", .name = "A::operator+(A const&)"},
        {"r:/a:A::operator++(int)", .library = "/a", .name = "A::operator++(int)", .at_return = true},
        {"/a:A::operator+=(A)+4", .library = "/a", .name = "A::operator+=(A)", .offset = 4},
        {"/a:A::operator++4", .library = "/a", .name = "A::operator+", .offset = 4},
        {"/a:A::operator+++0x4", .library = "/a", .name = "A::operator++", .offset = 4},
        {"/a:my_operator+4", .library = "/a", .name = "my_operator", .offset = 4},
        {"/a:decltype ({parm#1}+{parm#2}) f<int>(int)", .library = "/a",
         .name = "decltype ({parm#1}+{parm#2}) f<int>(int)"},
        {"/a:A<(1)+(2)>::f+4", .library = "/a", .name = "A<(1)+(2)>::f", .offset = 4},
        {"/path/bin:0x1234", .library = "/path/bin", .is_address = true, .address = 0x1234},
    };

    check_forms(forms, COUNT_OF(forms), PATTERN_USER_FUNCTION, false);
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
    AUTO(suggestions_free) struct suggestions suggestions = {.wanted = "t:sched:sched_fork"};
    AUTO_TEXT text = {0};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        suggest(&suggestions, names[i]);
        suggest_by_words(&suggestions, names[i]);
    }
    suggestions_add(&suggestions, &text);
    CHECK_STRING(text.data, "; near: t:sched:sched_frok, t:sched:sched_process_fork");
}

/* With -r the library is plain text, and ends at the first colon. */
TEST(user_expressions)
{
    static const struct form forms[] = {
        {"/a[:b", .library = "/a[", .name = "b"},
        {"r:c:^m[[:lower:]]+$", .library = "c", .at_return = true, .yes = "malloc", .no = "mALLOC"},
        {"p:/path/bin:0xffffffffffffffff", .library = "/path/bin", .is_address = true, .address = UINT64_MAX},
    };
    static const struct form probe = {"u:c:^[[:lower:]]:setjmp|x", .categories = "libc",
                                      .yes = "longsetjmp_target"};

    check_forms(forms, COUNT_OF(forms), PATTERN_USER_FUNCTION, true);
    check_form(&probe, PATTERN_USDT, true);
}

TEST(usdt_probes)
{
    static const struct form forms[] = {
        {"u:pthread:pthread_create", .library = "pthread", .name = "pthread_create", .categories = "anybody"},
        {"u:/path/bin:prov:probe", .library = "/path/bin", .category = "prov", .name = "probe"},
        {"u:/path/bin:*", .library = "/path/bin", .name = "*"},
        {"u:x:p*:*_start", .categories = "python", .no_categories = "ruby"},
    };

    check_forms(forms, COUNT_OF(forms), PATTERN_USDT, false);
}

TEST(regular_expressions)
{
    static const struct form forms[] = {
        {"^tcp_(send|recv)msg$", .yes = "tcp_sendmsg", .no = "mptcp_sendmsg tcp_sendmsg_locked"},
        /* It matches anywhere, as in grep -E; a plus repeats, it is not an offset. */
        {"o{2}k?_+1", .yes = "aook__1b", .no = "aok__1b"},
        /* With the colons of a class it is still a kernel function. */
        {"^vfs_[[:lower:]]+$", .yes = "vfs_read"},
    };
    struct pattern pattern;

    check_forms(forms, COUNT_OF(forms), PATTERN_KERNEL_FUNCTION, true);
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
        "p::a:b",
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
        check_form(&(struct form){rows[i].text, .yes = rows[i].yes, .no = rows[i].no},
                   PATTERN_KERNEL_FUNCTION, true);
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
    AUTO(matcher_free) struct matcher matcher;

    CHECK_NUMBER(matcher_make(&matcher, "a?[b].*\\", false, &error), 0);
    CHECK(matcher_matches(&matcher, "a?[b].\\"));
    CHECK(matcher_matches(&matcher, "a?[b].xyz\\"));
    CHECK(!matcher_matches(&matcher, "axb.\\"));
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
    AUTO(suggestions_free) struct suggestions suggestions = {.wanted = "abcdefgh"};
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
    AUTO(places_free) struct places places = {0};
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
}

static bool meet(const char *one, const char *other)
{
    char words[2][64];
    char *const list[] = {words[0], words[1]};
    AUTO(find_close) struct find find = {.tracefs = -1, .kallsyms = -1};

    snprintf(words[0], sizeof(words[0]), "%s", one);
    snprintf(words[1], sizeof(words[1]), "%s", other ? other : "");
    CHECK_NUMBER(find_parse(&find, list, other ? 2 : 1, false, &error), 0);
    bool result = find_programs_meet(&find);
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

TEST_MAIN
