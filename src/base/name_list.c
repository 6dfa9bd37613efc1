/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "base/name_list.h"

#include <string.h>

bool name_list_has(const char *list, const char *name)
{
    while (list && *list) {
        size_t same = 0;
        while (name[same] && list[same] == name[same])
            same++;
        if (list[same] == name[same] || (list[same] == '*' && !list[same + 1]))
            return true;
        list += same + strlen(list + same) + 1;
    }
    return false;
}
