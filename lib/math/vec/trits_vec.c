/* trits_vec.c -- packs five trits (digits in base 3) into a byte, and back. A group is 320 trits t[0], ...,
 * t[319] in 64 bytes; byte j is the sum over i of t[j + 64 i] 3^i, so the loops need no shuffles. A trit is 0,
 * 1 (plus) or 2 (minus); its code is 0, 1 or 3. */
#include "math/vec/vec.h"

enum { TRIT_BYTES = 64, TRITS = 320 };

void ISA_NAME(pack_trits)(const uint8_t *code, size_t groups, uint8_t *byte)
{
    for (size_t g = 0; g < groups; g++, code += TRITS, byte += TRIT_BYTES) {
        uint8_t sum[TRIT_BYTES] = {0};
        for (int i = 4; i >= 0; i--)
            for (int j = 0; j < TRIT_BYTES; j++) {
                const uint8_t c = code[i * TRIT_BYTES + j];
                sum[j] = (uint8_t)(sum[j] * 3 + c - (c >> 1));
            }
        memcpy(byte, sum, TRIT_BYTES);
    }
}

bool ISA_NAME(unpack_trits)(const uint8_t *byte, size_t groups, uint8_t *code)
{
    uint8_t most[TRIT_BYTES] = {0};
    for (size_t g = 0; g < groups; g++, code += TRITS, byte += TRIT_BYTES) {
        uint16_t left[TRIT_BYTES];
        for (int j = 0; j < TRIT_BYTES; j++) {
            most[j] = byte[j] > most[j] ? byte[j] : most[j];
            left[j] = byte[j];
        }
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < TRIT_BYTES; j++) {
                const uint16_t third = (uint16_t)(left[j] * 171u >> 9); /* exact below 256 */
                const uint8_t trit = (uint8_t)(left[j] - 3 * third);
                code[i * TRIT_BYTES + j] = (uint8_t)(trit + (trit >> 1));
                left[j] = third;
            }
    }
    for (int j = 1; j < TRIT_BYTES; j++)
        most[0] = most[j] > most[0] ? most[j] : most[0];
    return most[0] < 243;
}
