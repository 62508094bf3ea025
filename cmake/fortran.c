/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fortran.c: what the vendored files of LAPACK call besides each other (VendoredLapack.cmake), so that no runtime library of Fortran has to
 * come along. Lengths of strings are arguments, as gfortran passes them.
 */
#include <string.h>

/* Called where an argument is wrong, which no caller here lets happen: the routine then returns that as its result. LAPACK's own prints a
 * line and ends the process. */
void xerbla_(const char *name, const int *argument, size_t length) {
    (void)name, (void)argument, (void)length;
}

/* a // b, with blanks to the end of `to`: two letters of options, of which ilaenv chooses the size of blocks. */
void _gfortran_concat_string(size_t room, char *to, size_t a_length, const char *a, size_t b_length, const char *b) {
    memset(to, ' ', room);
    const size_t first = a_length < room ? a_length : room;
    memcpy(to, a, first);
    memcpy(to + first, b, b_length < room - first ? b_length : room - first);
}
