/* array_send.h -- in the reader process: sends the listing of a file of arrays to the parent
 * (tensor_stream.h). */
#ifndef ATOMO_ARRAY_SEND_H
#define ATOMO_ARRAY_SEND_H

#include "dump/array_file.h"
#include "dump/tensor_stream.h"

/* Sends a message 'G' for the root and for every group that is part of an array's path. Then sends a message
 * 'T' for every array of floats, 'S' for every other array, and at the end 'Z'. */
Status arrays_send(int socket, const ArrayFile *f, Error *err);

#endif
