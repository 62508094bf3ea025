/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_dump.c FOLDER PHOTO BUDGET WAY PICTURE: what a model (models.py) makes of a photo with a budget of
 * tokens, for check_llama.py. PICTURE.N becomes picture N as libmtmd is given it, a PNG. On stdout is a line
 * of each of these kinds:
 *     picture COLUMNS ROWS KEPT    KEPT is a 0 or a 1 for each token
 *     attention NUMBER...          of two looks: that of the first look on the tokens of picture 0
 *     encoded NUMBER               how many tokens went through the encoder
 *     logits NUMBER...             those of the first answered token
 *     answer NUMBER...             the first tokens of the answer, the likeliest of each
 */
#include "test_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <texturevlm/io.h>

#define ANSWERED 8

static int usage(void) {
    fprintf(stderr, "usage: test_dump FOLDER PHOTO BUDGET WAY PICTURE\n");
    return 2;
}

static void write_attention(const tvlm_mtmd_plan *plan) {
    const struct tvlm_mtmd_plan_info info = test_info_of(plan);
    if (info.attention == NULL) return;
    struct tvlm_mtmd_picture small;
    assert_int_equal(tvlm_mtmd_plan_picture(plan, 0, &small), TVLM_OK);
    printf("attention");
    for (int32_t t = 0; t < small.columns * small.rows; ++t) printf(" %.7g", (double)info.attention[t]);
    putchar('\n');
}

static void write_answer(opened *o, llama_pos at) {
    const int32_t count = test_vocabulary(o);
    printf("logits");
    for (int32_t t = 0; t < count; ++t) printf(" %.7g", (double)test_logits(o)[t]);
    printf("\nanswer");
    for (int i = 0; i < ANSWERED; ++i) {
        const llama_token token = test_likeliest(o);
        printf(" %d", token);
        test_decode(o, token, at + i);
    }
    putchar('\n');
}

int main(int argc, char **argv) {
    if (argc != 6 || tvlm_mtmd_way_find(argv[4]) < 0) return usage();
    opened o;
    tvlm_image *image = NULL;
    struct tvlm_mtmd_used used;
    test_open(&o, argv[1], TEST_CONTEXT);
    if (tvlm_image_load(argv[2], tvlm_log_stderr(), &image) != TVLM_OK) return 1;
    tvlm_mtmd_plan *plan = test_run(
        &o, image,
        tvlm_mtmd_params(.budget = test_number(argv[3]), .way = (tvlm_mtmd_way)tvlm_mtmd_way_find(argv[4])),
        NULL, &used);
    test_write_pictures(plan, argv[5], stdout);
    write_attention(plan);
    printf("encoded %d\n", used.encoded);
    write_answer(&o, used.n_past);
    tvlm_mtmd_plan_destroy(&plan);
    tvlm_image_destroy(&image);
    test_close(&o);
    return 0;
}
