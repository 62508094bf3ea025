/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/lab/io_projection.h"

#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "io/named.h"
#include "io/names.h"
#include "texturevlm/channels.h"
#include "texturevlm/io.h"

#define FORMAT_NAME "texturevlm.projection"

typedef struct source {
    tvlm_io_named named;
    const tvlm_safetensors *file;
} source;

/* ---- Reading ---- */

/* Finds a tensor of float32 of that shape, in which 0 stands for any number. Sets *found to NULL if there is
 * none. */
static tvlm_status find(const source *from, const char *name, int32_t rank, int64_t rows, int64_t columns,
                        const tvlm_tensor **found) {
    const tvlm_tensor *const tensor = *found = tvlm_safetensors_find(from->file, name);
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type == TVLM_ELEMENT_F32 && tensor->rank == rank && tensor->shape[0] >= 1 &&
        (rows == 0 || tensor->shape[0] == rows) && (rank == 1 || tensor->shape[1] >= 1) &&
        (rank == 1 || columns == 0 || tensor->shape[1] == columns))
        return TVLM_OK;
    if (rank == 1)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT, "%s: '%s' is not float32 of shape [%lld]",
                         from->named.path, name, (long long)rows);
    return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT, "%s: '%s' is not float32 of two dimensions",
                     from->named.path, name);
}

static tvlm_status read_basis(const source *from, tvlm_basis **basis) {
    const tvlm_tensor *components, *mean;
    const tvlm_log log = tvlm_io_naming(&from->named);
    TVLM_TRY(find(from, "components", 2, 0, 0, &components));
    if (components == NULL) return TVLM_OK;
    if (components->shape[0] > TVLM_EMBEDDING_MAX || components->shape[1] > TVLM_BASIS_DIMENSION_MAX)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT,
                         "%s: 'components' has %lld of %lld dimensions; at most %d of %d", from->named.path,
                         (long long)components->shape[0], (long long)components->shape[1], TVLM_EMBEDDING_MAX,
                         TVLM_BASIS_DIMENSION_MAX);
    TVLM_TRY(find(from, "mean", 1, components->shape[1], 0, &mean));
    const struct tvlm_basis_params params = {.dimension = (int32_t)components->shape[1],
                                             .k = (int32_t)components->shape[0],
                                             .centred = mean != NULL,
                                             .mean = mean != NULL ? mean->data : NULL,
                                             .components = components->data};
    const tvlm_status status = tvlm_basis_create(&params, &log, basis);
    return status == TVLM_ERROR_ARGUMENT ? TVLM_ERROR_FORMAT : status;
}

static tvlm_status read_weights(const source *from, const char *names,
                                struct tvlm_projection_params *params) {
    const tvlm_tensor *weight, *bias;
    TVLM_TRY(find(from, "weight", 2, 0, 0, &weight));
    if (weight == NULL)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT, "%s: there is no tensor 'weight'",
                         from->named.path);
    if (weight->shape[0] > TVLM_PROJECTION_OUTPUTS_MAX || weight->shape[1] > TVLM_PROJECTION_INPUTS_MAX)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT,
                         "%s: 'weight' is of %lld channels to %lld numbers; at most %d and %d",
                         from->named.path, (long long)weight->shape[1], (long long)weight->shape[0],
                         TVLM_PROJECTION_INPUTS_MAX, TVLM_PROJECTION_OUTPUTS_MAX);
    TVLM_TRY(find(from, "bias", 1, weight->shape[0], 0, &bias));
    if (tvlm_io_count_names(names) != weight->shape[1])
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT, "%s: %d channels are named, 'weight' has %lld",
                         from->named.path, (int)tvlm_io_count_names(names), (long long)weight->shape[1]);
    params->outputs = (int32_t)weight->shape[0];
    params->channel_count = (int32_t)weight->shape[1];
    params->weights = weight->data;
    params->bias = bias != NULL ? bias->data : NULL;
    return TVLM_OK;
}

static tvlm_status create(const source *from, struct tvlm_projection_params *params, const char *names,
                          tvlm_projection **projection) {
    const tvlm_log log = tvlm_io_naming(&from->named);
    int32_t *const channels = tvlm_allocate((size_t)params->channel_count, sizeof *channels);
    if (channels == NULL)
        return tvlm_fail(from->named.log, TVLM_ERROR_MEMORY, "%s: no memory for names", from->named.path);
    tvlm_status status = tvlm_io_read_names(from->named.path, NULL, from->named.log, names, channels);
    params->channels = channels;
    if (status == TVLM_OK) status = tvlm_projection_create(params, &log, projection);
    free(channels);
    return status == TVLM_ERROR_ARGUMENT ? TVLM_ERROR_FORMAT : status;
}

static tvlm_status parse(const source *from, tvlm_projection **projection) {
    const char *const format = tvlm_safetensors_metadata(from->file, "format");
    const char *const names = tvlm_safetensors_metadata(from->file, "channels");
    struct tvlm_projection_params params = {0};
    tvlm_basis *basis = NULL;
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT,
                         "%s: is not a projection (its metadata lacks format = %s)", from->named.path,
                         FORMAT_NAME);
    if (names == NULL)
        return tvlm_fail(from->named.log, TVLM_ERROR_FORMAT, "%s: its metadata does not name the channels",
                         from->named.path);
    TVLM_TRY(read_weights(from, names, &params));
    tvlm_status status = read_basis(from, &basis);
    params.basis = basis;
    if (status == TVLM_OK) status = create(from, &params, names, projection);
    tvlm_basis_destroy(&basis);
    return status;
}

tvlm_status tvlm_projection_load(const char *path, const tvlm_log *log, tvlm_projection **projection) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || projection == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_projection_load: path or projection is NULL");
    tvlm_status status = tvlm_safetensors_read(path, log, &file);
    if (status == TVLM_OK) status = parse(&(source){{path, log}, file}, projection);
    tvlm_safetensors_destroy(&file);
    return status;
}

/* ---- Writing ---- */

/* Writes the names with commas between them. There is room for TVLM_CHANNEL_NAME_SIZE bytes each. */
static void join_names(const struct tvlm_projection_params *p, char *names) {
    size_t length = 0;
    for (int32_t i = 0; i < p->channel_count; ++i) {
        tvlm_channel_info channel;
        (void)tvlm_channel_get_info(p->channels[i], &channel); /* cannot fail: there is such a channel */
        const size_t size = strlen(channel.name);
        if (i > 0) names[length++] = ',';
        memcpy(names + length, channel.name, size);
        length += size;
    }
    names[length] = '\0';
}

static tvlm_status write(const char *path, const struct tvlm_projection_params *p, const char *names,
                         const tvlm_log *log) {
    struct tvlm_basis_params basis = {0};
    int32_t count = 2;
    if (p->basis != NULL) {
        (void)tvlm_basis_get_params(p->basis, &basis);
        count = basis.centred ? 4 : 3;
    }
    const tvlm_tensor tensors[] = {
        {.name = "weight",
         .type = TVLM_ELEMENT_F32,
         .rank = 2,
         .shape = {p->outputs, p->channel_count},
         .data = p->weights},
        {.name = "bias", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {p->outputs}, .data = p->bias},
        {.name = "components",
         .type = TVLM_ELEMENT_F32,
         .rank = 2,
         .shape = {basis.k, basis.dimension},
         .data = basis.components},
        {.name = "mean",
         .type = TVLM_ELEMENT_F32,
         .rank = 1,
         .shape = {basis.dimension},
         .data = basis.mean}};
    const tvlm_metadata metadata[] = {{"format", FORMAT_NAME}, {"channels", names}};
    return tvlm_safetensors_write(path, tensors, count, metadata, 2, log);
}

tvlm_status tvlm_projection_save(const char *path, const tvlm_projection *projection, const tvlm_log *log) {
    struct tvlm_projection_params params;
    if (path == NULL || projection == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_projection_save: path or projection is NULL");
    (void)tvlm_projection_get_params(projection, &params);
    char *const names = tvlm_allocate((size_t)params.channel_count, TVLM_CHANNEL_NAME_SIZE);
    if (names == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for the channels' names", path);
    join_names(&params, names);
    const tvlm_status status = write(path, &params, names, log);
    free(names);
    return status;
}
