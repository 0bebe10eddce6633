#include "iceberg/manifest.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

#include "base/text.h"
#include "fmt/format.h"
#include "iceberg/avro.h"
#include "iceberg/location.h"
#include "iceberg/manifest_schema.h"

namespace amend::iceberg {
namespace {

// Field ids of a manifest entry and of its file (specification, "Manifests").
enum EntryField {
  kStatus = 0,
  kSnapshotId = 1,
  kDataFile = 2,
  kSequence = 3,
  kFileSequence = 4
};
enum FileField {
  kFilePath = 100,
  kFileFormat = 101,
  kPartition = 102,
  kRecordCount = 103,
  kFileSize = 104,
  kColumnSizes = 108,
  kValueCounts = 109,
  kNullCounts = 110,
  kLowerBounds = 125,
  kUpperBounds = 128,
  kKeyMetadata = 131,
  kSplitOffsets = 132,
  kContent = 134,
  kEqualityIds = 135,
  kNanCounts = 137,
  kSortOrder = 140,
  kReferencedFile = 143,
};

/// Rows or bytes; a thousand files of it still add up in 64 bits.
constexpr std::int64_t kMostOfAFile = std::int64_t{1} << 53;

// --- writing -----------------------------------------------------------------------

void EncodeCounts(const ColumnCounts& counts, AvroEncoder& out) {
  out.Present(!counts.empty());
  if (counts.empty()) return;
  out.SizedItems(counts.size(), [&](AvroEncoder& items) {
    for (const auto& [id, count] : counts) {
      items.Long(id);
      items.Long(count);
    }
  });
}

void EncodeBounds(const ColumnBounds& bounds, AvroEncoder& out) {
  out.Present(!bounds.empty());
  if (bounds.empty()) return;
  out.SizedItems(bounds.size(), [&](AvroEncoder& items) {
    for (const auto& [id, bound] : bounds) {
      items.Long(id);
      items.Sized(bound);
    }
  });
}

template <typename Number>
void EncodeList(const std::vector<Number>& numbers, AvroEncoder& out) {
  out.Present(!numbers.empty());
  if (numbers.empty()) return;
  out.BeginItems(numbers.size());
  for (Number number : numbers) out.Long(number);
  out.EndItems();
}

void EncodeOptional(const std::optional<std::int64_t>& number, AvroEncoder& out) {
  out.Present(number.has_value());
  if (number) out.Long(*number);
}

void EncodeOptional(const std::optional<std::string>& bytes, AvroEncoder& out) {
  out.Present(bytes.has_value());
  if (bytes) out.Sized(*bytes);
}

Status EncodeFile(const DataFile& file, const std::vector<PartitionColumn>& columns,
                  AvroEncoder& out) {
  out.Long(static_cast<int>(file.content));
  out.Sized(file.path);
  out.Sized("PARQUET");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    AMEND_RETURN_IF_ERROR(EncodePartitionValue(columns[i].type, file.partition[i], out));
  }
  out.Long(file.record_count);
  out.Long(file.file_size);
  EncodeCounts(file.column_sizes, out);
  EncodeCounts(file.value_counts, out);
  EncodeCounts(file.null_counts, out);
  EncodeCounts(file.nan_counts, out);
  EncodeBounds(file.lower_bounds, out);
  EncodeBounds(file.upper_bounds, out);
  EncodeOptional(file.key_metadata, out);
  EncodeList(file.split_offsets, out);
  EncodeList(file.equality_ids, out);
  out.Present(file.sort_order_id.has_value());
  if (file.sort_order_id) out.Long(*file.sort_order_id);
  EncodeOptional(file.referenced_data_file, out);
  return {};
}

/// What must hold of an entry before it is written; broken only by a bug of ours.
Status CheckEntry(const EntryRef& entry, const ManifestHeader& header) {
  const DataFile& file = *entry.file;
  auto bug = [&file](std::string_view what) {
    return Internal(fmt::format("manifest entry of {}: {}", file.path, what));
  };
  if (file.path.empty()) return bug("it has no path");
  if (file.spec_id != header.spec.id ||
      file.partition.size() != header.spec.fields.size()) {
    return bug("its partition is not of the manifest's spec");
  }
  if ((file.content != FileContent::kData) != header.is_deletes) {
    return bug("data and delete files do not share a manifest");
  }
  if (file.content == FileContent::kEqualityDeletes) {
    return Unsupported("Amend does not write equality deletes");
  }
  if (entry.status != EntryStatus::kAdded &&
      (!entry.snapshot_id || !entry.sequence_number || !entry.file_sequence_number)) {
    return bug("an existing or deleted file has no sequence numbers");
  }
  return {};
}

/// Collects the list's line while entries are written.
class Summarizer {
 public:
  Summarizer(std::string path, const ManifestHeader& header,
             const std::vector<PartitionColumn>& columns)
      : columns_(columns),
        commit_sequence_(header.sequence_number),
        ranges_(columns.size()) {
    file_.path = std::move(path);
    file_.spec_id = header.spec.id;
    file_.is_deletes = header.is_deletes;
    file_.sequence_number = header.sequence_number;
    file_.min_sequence_number = header.sequence_number;
    file_.added_snapshot_id = header.snapshot_id;
    file_.added_files = file_.existing_files = file_.deleted_files = 0;
    file_.added_rows = file_.existing_rows = file_.deleted_rows = 0;
  }

  void Add(const EntryRef& entry) {
    Count(entry);
    if (entry.status != EntryStatus::kDeleted) {
      file_.min_sequence_number = std::min(
          file_.min_sequence_number, entry.sequence_number.value_or(commit_sequence_));
    }
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const Value& value = entry.file->partition[i];
      Range& range = ranges_[i];
      if (IsNull(value)) {
        range.contains_null = true;
        continue;
      }
      const Type& type = columns_[i].type;
      if (IsNull(range.least) || CompareValues(type, value, range.least) < 0) {
        range.least = value;
      }
      if (IsNull(range.most) || CompareValues(type, value, range.most) > 0) {
        range.most = value;
      }
    }
  }

  ManifestFile Finish(std::size_t length) {
    file_.length = static_cast<std::int64_t>(length);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      PartitionFieldSummary summary;
      summary.contains_null = ranges_[i].contains_null;
      summary.contains_nan = false;
      summary.lower_bound = Whole(columns_[i].type, ranges_[i].least, -0.0);
      summary.upper_bound = Whole(columns_[i].type, ranges_[i].most, 0.0);
      file_.partitions.push_back(std::move(summary));
    }
    return std::move(file_);
  }

 private:
  struct Range {
    bool contains_null = false;
    Value least;
    Value most;
  };

  void Count(const EntryRef& entry) {
    switch (entry.status) {
      case EntryStatus::kAdded:
        ++*file_.added_files;
        *file_.added_rows += entry.file->record_count;
        return;
      case EntryStatus::kExisting:
        ++*file_.existing_files;
        *file_.existing_rows += entry.file->record_count;
        return;
      case EntryStatus::kDeleted:
        ++*file_.deleted_files;
        *file_.deleted_rows += entry.file->record_count;
        return;
    }
  }

  /// Summaries hold whole values, unlike column bounds.
  static std::optional<std::string> Whole(const Type& type, Value value, double zero) {
    if (auto* number = std::get_if<double>(&value); number != nullptr && *number == 0) {
      *number = zero;
    }
    auto bytes = EncodeSingleValue(type, value);
    if (!bytes) return std::nullopt;
    return std::move(*bytes);
  }

  const std::vector<PartitionColumn>& columns_;
  std::int64_t commit_sequence_;
  std::vector<Range> ranges_;
  ManifestFile file_;
};

AvroWriter::Header HeaderOf(const ManifestHeader& header) {
  auto text = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  return {{"schema", text(SchemaToJson(header.schema))},
          {"schema-id", std::to_string(header.schema.id)},
          {"partition-spec", text(SpecFieldsToJson(header.spec))},
          {"partition-spec-id", std::to_string(header.spec.id)},
          {"format-version", "2"},
          {"content", header.is_deletes ? "deletes" : "data"}};
}

// --- reading -----------------------------------------------------------------------

const AvroField* FindField(const AvroType& record, int id) {
  auto it = std::find_if(record.fields.begin(), record.fields.end(),
                         [id](const AvroField& field) { return field.id == id; });
  return it == record.fields.end() ? nullptr : &*it;
}

/// The type of a field that is a record, or an optional one; null if it is none.
const AvroType* RecordOf(const AvroField* field) {
  if (field == nullptr) return nullptr;
  if (field->type->kind == AvroKind::kRecord) return field->type;
  for (const AvroType* part : field->type->parts) {
    if (part->kind == AvroKind::kRecord) return part;
  }
  return nullptr;
}

class ManifestDecoder {
 public:
  ManifestDecoder(const ManifestFile& manifest, const PartitionSpec& spec,
                  const IsLean& lean)
      : manifest_(manifest), spec_(spec), lean_(lean) {}

  Result<std::vector<ManifestEntry>> Run(std::string_view bytes) {
    AMEND_ASSIGN(AvroReader reader,
                 AvroReader::Open(bytes, "manifest " + manifest_.path));
    AMEND_FAIL_IF_ERROR(CheckHeader(reader));
    AMEND_FAIL_IF_ERROR(CheckSchema(reader.schema().root()));
    std::vector<ManifestEntry> entries;
    Status status = reader.ForEach([&](AvroDecoder& decoder, const AvroType& type) {
      entries.emplace_back();
      format_.clear();
      ReadEntry(decoder, type, entries.back());
      return decoder.ok() ? Accept(entries.back()) : Status();
    });
    AMEND_FAIL_IF_ERROR(status);
    return entries;
  }

 private:
  Status Bad(std::string_view why) const {
    return Damaged(fmt::format("manifest {} is damaged: {}", manifest_.path, why))
        .Hint("restore the file, or return the table to a snapshot that does not use it");
  }

  Status CheckHeader(const AvroReader& reader) const {
    const std::string* version = reader.FindHeader("format-version");
    if (version != nullptr && *version != "1" && *version != "2") {
      return Unsupported(
          fmt::format("manifest {} is of Iceberg format version {}, Amend reads 2",
                      manifest_.path, *version));
    }
    const std::string* content = reader.FindHeader("content");
    if (content != nullptr && (*content == "deletes") != manifest_.is_deletes) {
      return Bad(fmt::format("it holds {}, unlike the list says", *content));
    }
    const std::string* spec = reader.FindHeader("partition-spec-id");
    if (spec != nullptr && ParseInt(*spec) != std::int64_t{manifest_.spec_id}) {
      return Bad(
          fmt::format("it is of spec {}, the list says {}", *spec, manifest_.spec_id));
    }
    return {};
  }

  /// Every field that we cannot do without is there, found by id.
  Status CheckSchema(const AvroType& root) {
    const AvroType* file = RecordOf(FindField(root, kDataFile));
    if (root.kind != AvroKind::kRecord || FindField(root, kStatus) == nullptr ||
        file == nullptr) {
      return Bad("it has no entries with field ids");
    }
    for (int id : {kFilePath, kFileFormat, kRecordCount, kFileSize}) {
      if (FindField(*file, id) == nullptr) {
        return Bad(fmt::format("its files have no field {}", id));
      }
    }
    const AvroType* partition = RecordOf(FindField(*file, kPartition));
    for (const PartitionField& field : spec_.fields) {
      bool expected = field.transform.kind != TransformKind::kVoid &&
                      field.transform.kind != TransformKind::kUnknown;
      if (expected &&
          (partition == nullptr || FindField(*partition, field.field_id) == nullptr)) {
        return Bad(fmt::format("its files have no partition field {} ('{}')",
                               field.field_id, field.name));
      }
    }
    return {};
  }

  static std::optional<std::int64_t> ReadOptional(AvroDecoder& decoder,
                                                  const AvroField& field) {
    const AvroType& type = decoder.Resolve(*field.type);
    if (type.kind == AvroKind::kNull) return std::nullopt;
    return decoder.Integer(type);
  }

  static std::int64_t ReadInt(AvroDecoder& decoder, const AvroField& field) {
    return ReadOptional(decoder, field).value_or(0);
  }

  static std::optional<std::string> ReadText(AvroDecoder& decoder,
                                             const AvroField& field) {
    const AvroType& type = decoder.Resolve(*field.type);
    if (type.kind == AvroKind::kNull) return std::nullopt;
    return std::string(decoder.Bytes(type));
  }

  /// Calls `value(id, type)` for every pair of a map by column id.
  template <typename ReadValue>
  static void ReadMap(AvroDecoder& decoder, const AvroField& field, ReadValue value) {
    const AvroType& type = decoder.Resolve(*field.type);
    if (type.kind == AvroKind::kNull) return;
    decoder.Items(type, [&](const AvroType& pair) {
      std::int64_t id = 0;
      decoder.Fields(pair, [&](const AvroField& part) {
        if (part.name == "key") {
          id = decoder.Integer(*part.type);
          return true;
        }
        if (part.name != "value" || id < 0 || id > std::numeric_limits<int>::max()) {
          return false;
        }
        const AvroType& resolved = decoder.Resolve(*part.type);
        if (resolved.kind != AvroKind::kNull) value(static_cast<int>(id), resolved);
        return true;
      });
    });
  }

  /// A negative count is no count: the id stays unknown. Collected before they are
  /// sorted: what a damaged file holds may come in any order.
  static void ReadCounts(AvroDecoder& decoder, const AvroField& field,
                         ColumnCounts& counts) {
    std::vector<ColumnCounts::value_type> read;
    ReadMap(decoder, field, [&](int id, const AvroType& type) {
      std::int64_t count = decoder.Integer(type);
      if (count >= 0) read.emplace_back(id, count);
    });
    counts = ColumnCounts(std::move(read));
  }

  static void ReadBounds(AvroDecoder& decoder, const AvroField& field,
                         ColumnBounds& bounds) {
    std::vector<ColumnBounds::value_type> read;
    ReadMap(decoder, field, [&](int id, const AvroType& type) {
      read.emplace_back(id, decoder.Bytes(type));
    });
    bounds = ColumnBounds(std::move(read));
  }

  template <typename Number>
  static void ReadList(AvroDecoder& decoder, const AvroField& field,
                       std::vector<Number>& numbers) {
    const AvroType& type = decoder.Resolve(*field.type);
    if (type.kind == AvroKind::kNull) return;
    decoder.Items(type, [&](const AvroType& item) {
      std::int64_t number = decoder.Integer(item);
      if (!std::in_range<Number>(number)) decoder.Fail("a list holds a number too large");
      numbers.push_back(static_cast<Number>(number));
    });
  }

  void ReadEntry(AvroDecoder& decoder, const AvroType& root, ManifestEntry& entry) {
    decoder.Fields(root, [&](const AvroField& field) {
      switch (field.id) {
        case kStatus: {
          std::int64_t status = ReadInt(decoder, field);
          if (status < 0 || status > 2) decoder.Fail("an entry has an unknown status");
          entry.status = static_cast<EntryStatus>(status);
          return true;
        }
        case kSnapshotId:
          entry.snapshot_id = ReadOptional(decoder, field);
          return true;
        case kSequence:
          entry.sequence_number = ReadOptional(decoder, field);
          return true;
        case kFileSequence:
          entry.file_sequence_number = ReadOptional(decoder, field);
          return true;
        case kDataFile:
          ReadFile(decoder, decoder.Resolve(*field.type), entry.file);
          return true;
        default:
          return false;
      }
    });
  }

  void ReadFile(AvroDecoder& decoder, const AvroType& type, DataFile& file) {
    file.spec_id = spec_.id;
    file.partition.assign(spec_.fields.size(), Value());
    is_lean_ = false;
    decoder.Fields(type, [&](const AvroField& field) {
      return ReadIdentity(decoder, field, file) || ReadMetrics(decoder, field, file);
    });
  }

  bool ReadIdentity(AvroDecoder& decoder, const AvroField& field, DataFile& file) {
    switch (field.id) {
      case kContent: {
        std::int64_t content = ReadInt(decoder, field);
        if (content < 0 || content > 2) decoder.Fail("a file has an unknown content");
        file.content = static_cast<FileContent>(content);
        return true;
      }
      case kFilePath:
        file.path = ReadText(decoder, field).value_or("");
        return true;
      case kFileFormat:
        format_ = ReadText(decoder, field).value_or("");
        return true;
      case kPartition:
        ReadPartition(decoder, decoder.Resolve(*field.type), file.partition);
        is_lean_ = lean_ && !file.path.empty() && lean_(file);
        return true;
      case kRecordCount:
        file.record_count = ReadInt(decoder, field);
        return true;
      case kFileSize:
        file.file_size = ReadInt(decoder, field);
        return true;
      case kReferencedFile:
        file.referenced_data_file = ReadText(decoder, field);
        return true;
      case kKeyMetadata:
        file.key_metadata = ReadText(decoder, field);
        return true;
      default:
        return false;
    }
  }

  bool ReadMetrics(AvroDecoder& decoder, const AvroField& field, DataFile& file) {
    return (!is_lean_ && ReadColumnMetrics(decoder, field, file)) ||
           ReadLayout(decoder, field, file);
  }

  static bool ReadColumnMetrics(AvroDecoder& decoder, const AvroField& field,
                                DataFile& file) {
    switch (field.id) {
      case kColumnSizes:
        ReadCounts(decoder, field, file.column_sizes);
        return true;
      case kValueCounts:
        ReadCounts(decoder, field, file.value_counts);
        return true;
      case kNullCounts:
        ReadCounts(decoder, field, file.null_counts);
        return true;
      case kNanCounts:
        ReadCounts(decoder, field, file.nan_counts);
        return true;
      case kLowerBounds:
        ReadBounds(decoder, field, file.lower_bounds);
        return true;
      case kUpperBounds:
        ReadBounds(decoder, field, file.upper_bounds);
        return true;
      default:
        return false;
    }
  }

  static bool ReadLayout(AvroDecoder& decoder, const AvroField& field, DataFile& file) {
    switch (field.id) {
      case kSplitOffsets:
        ReadList(decoder, field, file.split_offsets);
        return true;
      case kEqualityIds:
        ReadList(decoder, field, file.equality_ids);
        return true;
      case kSortOrder:
        if (auto id = ReadOptional(decoder, field)) {
          file.sort_order_id = static_cast<int>(*id);
        }
        return true;
      default:
        return false;
    }
  }

  void ReadPartition(AvroDecoder& decoder, const AvroType& type, PartitionTuple& tuple) {
    if (type.kind == AvroKind::kNull) return;
    decoder.Fields(type, [&](const AvroField& field) {
      for (std::size_t i = 0; i < spec_.fields.size(); ++i) {
        if (spec_.fields[i].field_id != field.id) continue;
        tuple[i] = DecodePartitionValue(decoder, *field.type);
        return true;
      }
      return false;
    });
  }

  /// Inheritance, and what cannot be.
  Status Accept(ManifestEntry& entry) const {
    const DataFile& file = entry.file;
    if (file.path.empty()) return Bad("a file has no path");
    for (std::int64_t size : {file.record_count, file.file_size}) {
      if (size < 0 || size > kMostOfAFile) {
        return Bad(fmt::format("{} has an impossible size", file.path));
      }
    }
    if ((file.content != FileContent::kData) != manifest_.is_deletes) {
      return Bad(fmt::format("{} is of another content than the manifest", file.path));
    }
    for (const Value& value : file.partition) {
      const auto* number = std::get_if<double>(&value);
      if (number != nullptr && std::isnan(*number)) {
        return Unsupported(fmt::format(
            "{} lies in a partition of value NaN, which equals nothing", file.path));
      }
    }
    AMEND_RETURN_IF_ERROR(Inherit(entry));
    return entry.status == EntryStatus::kDeleted ? Status() : CheckReadable(file);
  }

  Status Inherit(ManifestEntry& entry) const {
    if (!entry.snapshot_id) entry.snapshot_id = manifest_.added_snapshot_id;
    std::int64_t sequence = manifest_.sequence_number;
    for (auto* number : {&entry.sequence_number, &entry.file_sequence_number}) {
      if (!*number && (entry.status == EntryStatus::kAdded || sequence == 0)) {
        *number = sequence;
      }
      if (!*number) {
        return Bad(fmt::format("{} was there before and has no sequence number",
                               entry.file.path));
      }
      if (**number < 0 || **number > sequence) {
        return Bad(fmt::format("{} has sequence number {}, its manifest {}",
                               entry.file.path, **number, sequence));
      }
    }
    return {};
  }

  Status CheckReadable(const DataFile& file) const {
    if (ToLower(format_) != "parquet") {
      return Unsupported(fmt::format("{} is {}; Amend reads Parquet only", file.path,
                                     format_.empty() ? "of no format" : format_));
    }
    if (file.key_metadata) {
      return Unsupported(fmt::format("{} is encrypted", file.path));
    }
    return {};
  }

  const ManifestFile& manifest_;
  const PartitionSpec& spec_;
  const IsLean& lean_;
  // Of the entry being read.
  std::string format_;
  bool is_lean_ = false;
};

}  // namespace

Result<EncodedManifest> EncodeManifest(const std::string& path,
                                       const ManifestHeader& header,
                                       const std::vector<EntryRef>& entries) {
  AMEND_ASSIGN(std::vector<PartitionColumn> columns,
               PartitionColumns(header.spec, header.schema));
  AvroWriter writer(ManifestSchemaJson(columns), HeaderOf(header));
  Summarizer summarizer(path, header, columns);
  for (const EntryRef& entry : entries) {
    AMEND_FAIL_IF_ERROR(CheckEntry(entry, header));
    AvroEncoder& out = writer.record();
    out.Long(static_cast<int>(entry.status));
    EncodeOptional(entry.snapshot_id.value_or(header.snapshot_id), out);
    EncodeOptional(entry.sequence_number, out);
    EncodeOptional(entry.file_sequence_number, out);
    Status status = EncodeFile(*entry.file, columns, out);
    if (!status.ok()) return Fail(status.Annotate(entry.file->path));
    writer.EndRecord();
    summarizer.Add(entry);
  }
  EncodedManifest encoded{std::move(writer).Finish(), {}};
  encoded.file = summarizer.Finish(encoded.bytes.size());
  return encoded;
}

Result<EncodedManifest> EncodeManifest(const std::string& path,
                                       const ManifestHeader& header,
                                       const std::vector<ManifestEntry>& entries) {
  return EncodeManifest(path, header, RefsOf(entries));
}

std::vector<EntryRef> RefsOf(const std::vector<ManifestEntry>& entries) {
  std::vector<EntryRef> refs;
  refs.reserve(entries.size());
  for (const ManifestEntry& entry : entries) {
    refs.push_back({entry.status, entry.snapshot_id, entry.sequence_number,
                    entry.file_sequence_number, &entry.file});
  }
  return refs;
}

Result<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes,
                                                  const ManifestFile& manifest,
                                                  const PartitionSpec& spec,
                                                  const IsLean& lean) {
  if (manifest.spec_id != spec.id) {
    return Fail(Internal(fmt::format("manifest {} is of spec {} and was read with {}",
                                     manifest.path, manifest.spec_id, spec.id)));
  }
  return ManifestDecoder(manifest, spec, lean).Run(bytes);
}

Result<std::vector<ManifestEntry>> ReadManifest(Env& env, const ManifestFile& manifest,
                                                const PartitionSpec& spec,
                                                const IsLean& lean) {
  AMEND_ASSIGN(std::string path, ToLocalPath(manifest.path));
  AMEND_ASSIGN(std::string bytes, env.ReadFile(path));
  if (static_cast<std::int64_t>(bytes.size()) != manifest.length) {
    return Fail(Damaged(fmt::format("manifest {} has {} bytes, its list says {}",
                                    manifest.path, bytes.size(), manifest.length))
                    .Hint("restore the file, or return the table to a snapshot that does "
                          "not use it"));
  }
  return DecodeManifest(bytes, manifest, spec, lean);
}

Result<ManifestFile> WriteManifest(Env& env, const std::string& path,
                                   const ManifestHeader& header,
                                   const std::vector<EntryRef>& entries) {
  AMEND_ASSIGN(std::string local, ToLocalPath(path));
  AMEND_ASSIGN(EncodedManifest encoded, EncodeManifest(path, header, entries));
  AMEND_FAIL_IF_ERROR(env.WriteNewFile(local, encoded.bytes));
  return std::move(encoded.file);
}

Result<ManifestFile> WriteManifest(Env& env, const std::string& path,
                                   const ManifestHeader& header,
                                   const std::vector<ManifestEntry>& entries) {
  return WriteManifest(env, path, header, RefsOf(entries));
}

}  // namespace amend::iceberg
