#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace amend::iceberg {

// Avro 1.x binary encoding and object container files (Avro specification, "Binary
// encoding", "Object Container Files"), as far as Iceberg's manifests need them.
//
// Why our own: the C and C++ libraries rewrite a schema when they store it and lose the
// attributes that Iceberg lives by (`field-id`, `element-id`, `logicalType` of maps), so
// that other engines reject the file. Here the schema is the JSON text it was given.
//
// Why a decoder walked by the caller instead of a tree of values: a manifest entry is
// read straight into its struct, about ten times faster, and what the caller does not
// know by id is skipped.
//
// Bytes are not trusted: every length and count is checked against what is left before
// anything is allocated, a block inflates to at most 256 MiB. Nothing throws.

enum class AvroKind {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

struct AvroType;

struct AvroField {
  std::string name;
  int id = -1;  ///< Iceberg's field-id; -1 where the schema has none
  const AvroType* type = nullptr;
};

/// A node of a schema. Owned by its AvroSchema.
struct AvroType {
  AvroKind kind = AvroKind::kNull;
  std::string logical;   ///< logicalType, e.g. "decimal"
  std::size_t size = 0;  ///< fixed: bytes
  std::vector<AvroField> fields;
  /// Union: its branches; array: its item; map: its value.
  std::vector<const AvroType*> parts;
};

/// A parsed schema. Immutable; movable, nodes keep their addresses.
class AvroSchema {
 public:
  /// Damaged for what is no schema; Unsupported for records that are referred to by name
  /// (Iceberg has none, and without them a schema is a finite tree).
  static Result<AvroSchema> Parse(std::string_view json);

  const AvroType& root() const { return *root_; }

 private:
  friend class AvroSchemaParser;
  std::vector<std::unique_ptr<AvroType>> types_;
  const AvroType* root_ = nullptr;
};

/// Reads values of a known schema from bytes. The first failure sticks: everything after
/// it reads as zero or empty and consumes nothing, so callers check ok() once a record.
/// Views point into the bytes.
class AvroDecoder {
 public:
  explicit AvroDecoder(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return error_.empty(); }
  bool at_end() const { return rest_.empty(); }
  std::size_t remaining() const { return rest_.size(); }
  const std::string& error() const { return error_; }
  /// For callers that find a value impossible.
  void Fail(std::string_view error);

  /// The branch of a union that follows (consumes its index); other types themselves.
  const AvroType& Resolve(const AvroType& type);
  bool Boolean(const AvroType& type);
  /// Int or long; an int outside 32 bits is a failure.
  std::int64_t Integer(const AvroType& type);
  double Number(const AvroType& type);           ///< float or double
  std::string_view Bytes(const AvroType& type);  ///< bytes, string or fixed
  void Skip(const AvroType& type);

  /// Calls `each(const AvroType& item)` for every item of an array; it must consume it.
  template <typename Each>
  void Items(const AvroType& type, Each each);
  /// Calls `take(const AvroField&)` for every field of a record, in order. It returns
  /// whether it consumed the field; the decoder skips it otherwise.
  template <typename Take>
  void Fields(const AvroType& type, Take take);

  // Untyped, for the container.
  std::int64_t Long();
  std::string_view Raw(std::size_t size);
  std::string_view Sized();  ///< a length, then so many bytes
  /// The count of the next block of an array or map, 0 at its end. Never more than the
  /// bytes left: no item of ours is empty.
  std::int64_t BlockCount();

 private:
  bool Expect(const AvroType& type, AvroKind one, AvroKind other);
  template <typename SkipItem>
  void SkipBlocks(SkipItem skip_item);

  std::string_view rest_;
  std::string error_;
};

template <typename Each>
void AvroDecoder::Items(const AvroType& type, Each each) {
  if (!Expect(type, AvroKind::kArray, AvroKind::kArray)) return;
  for (std::int64_t count = BlockCount(); count > 0; count = BlockCount()) {
    for (std::int64_t i = 0; i < count && ok(); ++i) each(*type.parts[0]);
  }
}

template <typename Take>
void AvroDecoder::Fields(const AvroType& type, Take take) {
  if (!Expect(type, AvroKind::kRecord, AvroKind::kRecord)) return;
  for (const AvroField& field : type.fields) {
    if (!ok()) return;
    if (!take(field)) Skip(*field.type);
  }
}

/// Writes values; the caller keeps to the schema. Views live until the next write.
class AvroEncoder {
 public:
  void Long(std::int64_t number);
  void Boolean(bool value) {
    Raw(value ? std::string_view("\1", 1) : std::string_view("\0", 1));
  }
  void Float(float number);
  void Double(double number);
  void Sized(std::string_view bytes);
  void Raw(std::string_view bytes);
  /// The branch of an optional value, ["null", T].
  void Present(bool present) { Long(present ? 1 : 0); }
  /// Before the items of an array, in one block; EndItems after them.
  void BeginItems(std::size_t count);
  void EndItems() { Long(0); }
  /// The items of an array, all of them, in one block that tells its size: who does not
  /// want them skips them at once. `write(*this)` writes exactly `count`.
  template <typename Write>
  void SizedItems(std::size_t count, Write write);

  std::string_view bytes() const { return {room_.data(), size_}; }
  void Clear() { size_ = 0; }

 private:
  /// Where so many bytes can be written.
  char* Room(std::size_t more) {
    if (room_.size() - size_ < more) Grow(more);
    return room_.data() + size_;
  }
  void Grow(std::size_t more);
  /// Puts the head of a block of `count` items before what was written since `start`.
  void InsertHead(std::size_t start, std::size_t count);

  // Most numbers are one byte long. Room made ahead costs a third of appending each.
  std::string room_;
  std::size_t size_ = 0;  ///< bytes of it that are written
};

template <typename Write>
void AvroEncoder::SizedItems(std::size_t count, Write write) {
  if (count > 0) {
    std::size_t start = size_;
    write(*this);
    InsertHead(start, count);
  }
  EndItems();
}

/// A container file in memory.
class AvroReader {
 public:
  /// Borrows `bytes`. `what` names the file in messages. Unsupported for codecs other
  /// than null and deflate.
  static Result<AvroReader> Open(std::string_view bytes, std::string what);

  const AvroSchema& schema() const { return schema_; }
  /// A header value of the writer, null where there is none.
  const std::string* FindHeader(std::string_view key) const;

  using ReadRecord = std::function<Status(AvroDecoder&, const AvroType&)>;
  /// Calls `read` for every record in file order; it must consume exactly one. Damaged,
  /// naming the file, where bytes do not fit the schema or blocks do not end together
  /// with their records; else the first status of `read`.
  Status ForEach(const ReadRecord& read) const;

 private:
  AvroReader() = default;
  Status ReadHeader(AvroDecoder& decoder);
  Status ReadBlock(std::string_view payload, std::int64_t count,
                   const ReadRecord& read) const;
  Status Bad(std::string_view why) const;

  std::string what_;
  std::map<std::string, std::string, std::less<>> header_;
  AvroSchema schema_;
  std::string_view sync_;
  std::string_view blocks_;
  bool deflated_ = false;
};

enum class AvroCodec { kNull, kDeflate };

/// Makes a container file. Equal input gives equal bytes: the sync marker is derived from
/// the content.
class AvroWriter {
 public:
  using Header = std::vector<std::pair<std::string, std::string>>;

  /// `schema` is stored as it is.
  AvroWriter(std::string schema, Header header, AvroCodec codec = AvroCodec::kDeflate);
  ~AvroWriter();

  /// Where the next record is encoded.
  AvroEncoder& record() { return block_; }
  void EndRecord();
  std::string Finish() &&;

 private:
  class Deflater;

  void EndBlock();

  Header header_;
  std::unique_ptr<Deflater> deflater_;  ///< null for the null codec
  AvroEncoder block_;
  std::int64_t records_ = 0;  ///< in block_
  std::vector<std::pair<std::int64_t, std::string>> blocks_;
};

}  // namespace amend::iceberg
