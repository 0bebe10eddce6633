#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.h"
#include "base/status.h"
#include "iceberg/data_file.h"
#include "iceberg/partition_spec.h"
#include "iceberg/schema.h"
#include "iceberg/table_metadata.h"

namespace amend::iceberg {

/// Manifests and manifest lists (Iceberg specification, "Manifests", "Manifest Lists"):
/// Avro files read by field id and written with the names, ids and defaults that every
/// engine we know insists on.
///
/// There is no checksum in the format. What protects: the length that the list states,
/// blocks that must be consumed exactly, ranges, sequence numbers that cannot be.
///
/// Refused as Unsupported: files of format version 3, live files other than Parquet,
/// encrypted files, NaN as a partition value (it equals nothing, itself included).
/// Damaged names the file. All functions are free of shared state: call them from any
/// thread.

/// What all entries of a manifest share.
struct ManifestHeader {
  Schema schema;  ///< the table's when the manifest was written
  PartitionSpec spec;
  bool is_deletes = false;
  std::int64_t snapshot_id = 0;      ///< that adds the manifest
  std::int64_t sequence_number = 0;  ///< of that commit
};

/// A manifest as bytes, and its line for the list; the line's path is as given.
struct EncodedManifest {
  std::string bytes;
  ManifestFile file;
};

/// Encodes a manifest to be stored at `path` (URI; ends in .avro, by which Java picks its
/// reader). Added entries without sequence number keep none, so that the manifest can be
/// listed again by a retried commit: set both sequence numbers of its line then. Equal
/// input gives equal bytes. Internal where an existing or deleted entry has no sequence
/// numbers or an entry's partition does not fit the spec.
Result<EncodedManifest> EncodeManifest(const std::string& path,
                                       const ManifestHeader& header,
                                       const std::vector<EntryRef>& entries);
Result<EncodedManifest> EncodeManifest(const std::string& path,
                                       const ManifestHeader& header,
                                       const std::vector<ManifestEntry>& entries);
/// Entries as lines to write; borrows the files.
std::vector<EntryRef> RefsOf(const std::vector<ManifestEntry>& entries);

/// The entries of a manifest, inheritance applied: every entry has its snapshot and both
/// sequence numbers. `manifest` is its line in the list and `spec` the table's spec of
/// that id. Partition tuples are in spec order; a field of an unknown transform keeps the
/// value found.
///
/// `lean` tells of a file, of which path and partition are known so far, whether its
/// column metrics may be left unread: most of the time and memory of a manifest are
/// theirs.
using IsLean = std::function<bool(const DataFile&)>;
Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes,
                                                  const ManifestFile& manifest,
                                                  const PartitionSpec& spec,
                                                  const IsLean& lean = nullptr);

/// What a manifest list says about itself.
struct ManifestListHeader {
  std::int64_t snapshot_id = 0;
  std::optional<std::int64_t> parent_snapshot_id;
  std::int64_t sequence_number = 0;
};

Result<std::string> EncodeManifestList(const ManifestListHeader& header,
                                       const std::vector<ManifestFile>& manifests);

/// `snapshot` is whose list it is: a list of another snapshot is Damaged.
Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes,
                                                     const Snapshot& snapshot);

// The same through Env. Writing does not sync.

/// The manifests of a snapshot, in list order.
Result<std::vector<ManifestFile>> ReadManifestList(Env& env, const Snapshot& snapshot);
/// Damaged if the file's length is not the line's.
Result<std::vector<ManifestEntry>> ReadManifest(Env& env, const ManifestFile& manifest,
                                                const PartitionSpec& spec,
                                                const IsLean& lean = nullptr);
Result<ManifestFile> WriteManifest(Env& env, const std::string& path,
                                   const ManifestHeader& header,
                                   const std::vector<EntryRef>& entries);
Result<ManifestFile> WriteManifest(Env& env, const std::string& path,
                                   const ManifestHeader& header,
                                   const std::vector<ManifestEntry>& entries);
Status WriteManifestList(Env& env, const std::string& path,
                         const ManifestListHeader& header,
                         const std::vector<ManifestFile>& manifests);

}  // namespace amend::iceberg
