#include <limits>
#include <set>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/avro.h"
#include "iceberg/location.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_schema.h"

namespace amend::iceberg {
namespace {

// Field ids (specification, "Manifest Lists").
enum ListField {
  kPath = 500,
  kLength = 501,
  kSpecId = 502,
  kAddedSnapshot = 503,
  kAddedFiles = 504,
  kExistingFiles = 505,
  kDeletedFiles = 506,
  kPartitions = 507,
  kContainsNull = 509,
  kLowerBound = 510,
  kUpperBound = 511,
  kAddedRows = 512,
  kExistingRows = 513,
  kDeletedRows = 514,
  kSequence = 515,
  kMinSequence = 516,
  kContent = 517,
  kContainsNan = 518,
  kKeyMetadata = 519,
};

void EncodeOptional(const std::optional<std::string>& bytes, AvroEncoder& out) {
  out.Present(bytes.has_value());
  if (bytes) out.Sized(*bytes);
}

void EncodeSummary(const PartitionFieldSummary& summary, AvroEncoder& out) {
  out.Boolean(summary.contains_null);
  out.Present(summary.contains_nan.has_value());
  if (summary.contains_nan) out.Boolean(*summary.contains_nan);
  EncodeOptional(summary.lower_bound, out);
  EncodeOptional(summary.upper_bound, out);
}

Status NoCounts(const ManifestFile& manifest) {
  return Unsupported(fmt::format("manifest {} does not state its counts, which a list of "
                                 "format version 2 must",
                                 manifest.path))
      .Hint("let its writer rewrite the manifests of the table");
}

Status EncodeLine(const ManifestFile& manifest, AvroEncoder& out) {
  out.Sized(manifest.path);
  out.Long(manifest.length);
  out.Long(manifest.spec_id);
  out.Long(manifest.is_deletes ? 1 : 0);
  out.Long(manifest.sequence_number);
  out.Long(manifest.min_sequence_number);
  out.Long(manifest.added_snapshot_id);
  for (const auto& count :
       {manifest.added_files, manifest.existing_files, manifest.deleted_files}) {
    if (!count) return NoCounts(manifest);
    out.Long(*count);
  }
  for (const auto& count :
       {manifest.added_rows, manifest.existing_rows, manifest.deleted_rows}) {
    if (!count) return NoCounts(manifest);
    out.Long(*count);
  }
  out.Present(!manifest.partitions.empty());
  if (!manifest.partitions.empty()) {
    out.BeginItems(manifest.partitions.size());
    for (const PartitionFieldSummary& summary : manifest.partitions) {
      EncodeSummary(summary, out);
    }
    out.EndItems();
  }
  EncodeOptional(manifest.key_metadata, out);
  return {};
}

class ListDecoder {
 public:
  explicit ListDecoder(const Snapshot& snapshot) : snapshot_(snapshot) {}

  Result<std::vector<ManifestFile>> Run(std::string_view bytes) {
    AMEND_ASSIGN(AvroReader reader,
                 AvroReader::Open(bytes, "manifest list " + snapshot_.manifest_list));
    AMEND_FAIL_IF_ERROR(CheckHeader(reader));
    AMEND_FAIL_IF_ERROR(CheckSchema(reader.schema().root()));
    std::vector<ManifestFile> manifests;
    std::set<std::string> paths;
    Status status = reader.ForEach([&](AvroDecoder& decoder, const AvroType& type) {
      manifests.emplace_back();
      ManifestFile& manifest = manifests.back();
      ReadLine(decoder, type, manifest);
      if (!decoder.ok()) return Status();
      if (!paths.insert(manifest.path).second) {
        return Bad(fmt::format("it lists {} twice", manifest.path));
      }
      return Check(manifest);
    });
    AMEND_FAIL_IF_ERROR(status);
    return manifests;
  }

 private:
  Status Bad(std::string_view why) const {
    return Damaged(fmt::format("manifest list {} of snapshot {} is damaged: {}",
                               snapshot_.manifest_list, snapshot_.id, why))
        .Hint("restore the file, or return the table to another snapshot");
  }

  Status CheckHeader(const AvroReader& reader) const {
    const std::string* version = reader.FindHeader("format-version");
    if (version != nullptr && *version != "1" && *version != "2") {
      return Unsupported(
          fmt::format("manifest list {} is of Iceberg format version {}, Amend reads 2",
                      snapshot_.manifest_list, *version));
    }
    const std::string* id = reader.FindHeader("snapshot-id");
    if (id != nullptr && ParseInt(*id) != snapshot_.id) {
      return Bad(fmt::format("it is of snapshot {}", *id));
    }
    return {};
  }

  Status CheckSchema(const AvroType& root) const {
    std::set<int> ids;
    for (const AvroField& field : root.fields) ids.insert(field.id);
    for (int id : {kPath, kLength, kSpecId, kAddedSnapshot}) {
      if (!ids.contains(id)) return Bad(fmt::format("its lines have no field {}", id));
    }
    return {};
  }

  static std::optional<std::int64_t> ReadOptional(AvroDecoder& decoder,
                                                  const AvroType& declared) {
    const AvroType& type = decoder.Resolve(declared);
    if (type.kind == AvroKind::kNull) return std::nullopt;
    return decoder.Integer(type);
  }

  static std::optional<int> ReadCount(AvroDecoder& decoder, const AvroType& declared) {
    auto count = ReadOptional(decoder, declared);
    if (!count) return std::nullopt;
    if (*count < 0 || *count > std::numeric_limits<int>::max()) {
      decoder.Fail("a count of files is out of range");
    }
    return static_cast<int>(*count);
  }

  static std::optional<std::string> ReadBytes(AvroDecoder& decoder,
                                              const AvroType& declared) {
    const AvroType& type = decoder.Resolve(declared);
    if (type.kind == AvroKind::kNull) return std::nullopt;
    return std::string(decoder.Bytes(type));
  }

  static void ReadSummary(AvroDecoder& decoder, const AvroType& item,
                          PartitionFieldSummary& summary) {
    decoder.Fields(item, [&](const AvroField& field) {
      switch (field.id) {
        case kContainsNull:
          summary.contains_null = decoder.Boolean(*field.type);
          return true;
        case kContainsNan: {
          const AvroType& type = decoder.Resolve(*field.type);
          if (type.kind != AvroKind::kNull) summary.contains_nan = decoder.Boolean(type);
          return true;
        }
        case kLowerBound:
          summary.lower_bound = ReadBytes(decoder, *field.type);
          return true;
        case kUpperBound:
          summary.upper_bound = ReadBytes(decoder, *field.type);
          return true;
        default:
          return false;
      }
    });
  }

  static void ReadLine(AvroDecoder& decoder, const AvroType& root,
                       ManifestFile& manifest) {
    decoder.Fields(root, [&](const AvroField& field) {
      return ReadIdentity(decoder, field, manifest) ||
             ReadCounts(decoder, field, manifest);
    });
  }

  static bool ReadIdentity(AvroDecoder& decoder, const AvroField& field,
                           ManifestFile& manifest) {
    const AvroType& type = *field.type;
    switch (field.id) {
      case kPath:
        manifest.path = ReadBytes(decoder, type).value_or("");
        return true;
      case kLength:
        manifest.length = ReadOptional(decoder, type).value_or(-1);
        return true;
      case kSpecId:
        manifest.spec_id = ReadCount(decoder, type).value_or(0);
        return true;
      case kContent: {
        std::int64_t content = ReadOptional(decoder, type).value_or(0);
        if (content < 0 || content > 1) decoder.Fail("a manifest has an unknown content");
        manifest.is_deletes = content == 1;
        return true;
      }
      case kSequence:
        manifest.sequence_number = ReadOptional(decoder, type).value_or(0);
        return true;
      case kMinSequence:
        manifest.min_sequence_number = ReadOptional(decoder, type).value_or(0);
        return true;
      case kAddedSnapshot:
        manifest.added_snapshot_id = ReadOptional(decoder, type).value_or(0);
        return true;
      case kKeyMetadata:
        manifest.key_metadata = ReadBytes(decoder, type);
        return true;
      default:
        return false;
    }
  }

  static bool ReadCounts(AvroDecoder& decoder, const AvroField& field,
                         ManifestFile& manifest) {
    const AvroType& type = *field.type;
    switch (field.id) {
      case kAddedFiles:
        manifest.added_files = ReadCount(decoder, type);
        return true;
      case kExistingFiles:
        manifest.existing_files = ReadCount(decoder, type);
        return true;
      case kDeletedFiles:
        manifest.deleted_files = ReadCount(decoder, type);
        return true;
      case kAddedRows:
        manifest.added_rows = ReadOptional(decoder, type);
        return true;
      case kExistingRows:
        manifest.existing_rows = ReadOptional(decoder, type);
        return true;
      case kDeletedRows:
        manifest.deleted_rows = ReadOptional(decoder, type);
        return true;
      case kPartitions: {
        const AvroType& list = decoder.Resolve(type);
        if (list.kind == AvroKind::kNull) return true;
        decoder.Items(list, [&](const AvroType& item) {
          manifest.partitions.emplace_back();
          ReadSummary(decoder, item, manifest.partitions.back());
        });
        return true;
      }
      default:
        return false;
    }
  }

  Status Check(const ManifestFile& manifest) const {
    if (manifest.path.empty() || manifest.length < 0) {
      return Bad("a line names no manifest");
    }
    if (manifest.sequence_number < 0 || manifest.min_sequence_number < 0 ||
        manifest.sequence_number > snapshot_.sequence_number ||
        manifest.min_sequence_number > manifest.sequence_number) {
      return Bad(fmt::format("{} has sequence numbers {} to {}, its snapshot {}",
                             manifest.path, manifest.min_sequence_number,
                             manifest.sequence_number, snapshot_.sequence_number));
    }
    if (manifest.key_metadata) {
      return Unsupported(fmt::format("manifest {} is encrypted", manifest.path));
    }
    return {};
  }

  const Snapshot& snapshot_;
};

}  // namespace

Result<std::string> EncodeManifestList(const ManifestListHeader& header,
                                       const std::vector<ManifestFile>& manifests) {
  std::string parent =
      header.parent_snapshot_id ? std::to_string(*header.parent_snapshot_id) : "null";
  AvroWriter writer(ManifestListSchemaJson(),
                    {{"snapshot-id", std::to_string(header.snapshot_id)},
                     {"parent-snapshot-id", parent},
                     {"sequence-number", std::to_string(header.sequence_number)},
                     {"format-version", "2"}});
  for (const ManifestFile& manifest : manifests) {
    AMEND_FAIL_IF_ERROR(EncodeLine(manifest, writer.record()));
    writer.EndRecord();
  }
  return std::move(writer).Finish();
}

Result<std::vector<ManifestFile>> DecodeManifestList(std::string_view bytes,
                                                     const Snapshot& snapshot) {
  return ListDecoder(snapshot).Run(bytes);
}

Result<std::vector<ManifestFile>> ReadManifestList(Env& env, const Snapshot& snapshot) {
  AMEND_ASSIGN(std::string path, ToLocalPath(snapshot.manifest_list));
  AMEND_ASSIGN(std::string bytes, env.ReadFile(path));
  return DecodeManifestList(bytes, snapshot);
}

Status WriteManifestList(Env& env, const std::string& path,
                         const ManifestListHeader& header,
                         const std::vector<ManifestFile>& manifests) {
  AMEND_ASSIGN_OR_RETURN(std::string local, ToLocalPath(path));
  AMEND_ASSIGN_OR_RETURN(std::string bytes, EncodeManifestList(header, manifests));
  return env.WriteNewFile(local, bytes);
}

}  // namespace amend::iceberg
