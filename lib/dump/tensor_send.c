/* tensor_send.c -- in the reader process: sends a message to the parent. */
#include "dump/tensor_stream.h"

#include <errno.h>
#include <sys/socket.h>

Status message_send(int socket, Buf *b, Error *err)
{
    store_u32(b->data, (uint32_t)(b->size - 4));
    for (size_t sent = 0; sent < b->size;) {
        const ssize_t part = send(socket, b->data + sent, b->size - sent, MSG_NOSIGNAL);
        if (part < 0 && errno != EINTR)
            return FAIL(err, ERR_IO, "the parent process is gone");
        sent += part > 0 ? (size_t)part : 0;
    }
    return OK;
}
