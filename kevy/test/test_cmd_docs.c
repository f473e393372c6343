/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * docs/commands.md says what commands.def says: tools/commands-doc writes it
 * and checks it; here the check runs, and the count is compared with the table
 * that was compiled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kevy/src/command/command.h"
#include "testing/harness.h"

TEST(the_page_is_what_the_list_says)
{
    CHECK_INT(system("python3 " KV_SOURCE_DIR "/tools/commands-doc --check"), 0);
}

TEST(every_command_is_on_the_page)
{
    FILE *file = fopen(KV_SOURCE_DIR "/docs/commands.md", "r");
    char line[1024];
    size_t rows = 0;
    REQUIRE(file != NULL);
    while (fgets(line, sizeof line, file) != NULL) {
        rows += strncmp(line, "| `", 3) == 0;
    }
    fclose(file);
    CHECK_INT(rows, kv_command_count());
}
