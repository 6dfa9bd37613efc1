/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#include "report/pprof_parts.h"

#include <errno.h>
#include <string.h>

#include "base/escape.h"
#include "base/text.h"

uint32_t pprof_string(struct pprof_writer *writer, const char *text)
{
    uint32_t number = 0;

    if (numbering_find(&writer->strings, text, strlen(text), &number, NULL))
        writer->result = -ENOMEM;
    return number;
}

uint32_t pprof_escaped(struct pprof_writer *writer, const char *bytes, size_t length)
{
    text_clear(&writer->raw);
    escape_bytes(&writer->raw, bytes, length);
    if (writer->raw.failed)
        writer->result = -ENOMEM;
    return pprof_string(writer, length && writer->raw.data ? writer->raw.data : "");
}

void pprof_add_part(struct pprof_writer *writer, unsigned field)
{
    /* Clearing also clears the failure. */
    if (writer->part.failed)
        writer->result = -ENOMEM;
    protobuf_add_bytes(&writer->message, field, writer->part.data, writer->part.length);
    text_clear(&writer->part);
}

void pprof_put_fields(struct pprof_writer *writer)
{
    if (writer->message.failed || writer->part.failed || writer->raw.failed ||
        writer->head.failed)
        writer->result = -ENOMEM;
    if (!writer->result)
        gzip_add(&writer->gzip, writer->message.data, writer->message.length);
    text_clear(&writer->message);
}

void pprof_put_message(struct pprof_writer *writer, unsigned field)
{
    if (writer->message.failed)
        writer->result = -ENOMEM;
    text_clear(&writer->head);
    protobuf_add_head(&writer->head, field, writer->message.length);
    if (!writer->head.failed && !writer->result)
        gzip_add(&writer->gzip, writer->head.data, writer->head.length);
    pprof_put_fields(writer);
}
