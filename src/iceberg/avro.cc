#include "iceberg/avro.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>

#include "base/hash.h"
#include "base/json.h"
#include "fmt/format.h"
#include "libdeflate.h"

namespace amend::iceberg {
namespace {

constexpr std::string_view kMagic("Obj\1", 4);
constexpr std::size_t kSyncSize = 16;
constexpr std::size_t kBlockSize = 64 * 1024;             // before compression
constexpr std::size_t kMostInflated = 256 * 1024 * 1024;  // of one block
constexpr std::size_t kMostOfALong = 10;                  // bytes of a varint of 64 bits
// PyIceberg cuts a zlib stream down to raw deflate and leaves three bytes of the
// checksum.
constexpr std::size_t kMostTrailing = 3;
// A commit waits for its manifests: level 6, the usual one, takes 2.4 times as long for a
// tenth fewer bytes (measured on those of the flights example).
constexpr int kLevel = 1;

constexpr std::pair<std::string_view, AvroKind> kPrimitives[] = {
    {"null", AvroKind::kNull},   {"boolean", AvroKind::kBoolean},
    {"int", AvroKind::kInt},     {"long", AvroKind::kLong},
    {"float", AvroKind::kFloat}, {"double", AvroKind::kDouble},
    {"bytes", AvroKind::kBytes}, {"string", AvroKind::kString},
};

/// One for all blocks of a file: setting up costs as much as a small block.
class Inflater {
 public:
  /// Nothing where the bytes are not one whole deflate stream of allowed size.
  std::optional<std::string> Run(std::string_view input) {
    if (engine_ == nullptr) return std::nullopt;
    std::string output(std::clamp(2 * input.size(), kBlockSize, kMostInflated), '\0');
    for (;;) {
      std::size_t taken = 0;
      std::size_t made = 0;
      libdeflate_result result =
          libdeflate_deflate_decompress_ex(engine_.get(), input.data(), input.size(),
                                           output.data(), output.size(), &taken, &made);
      if (result == LIBDEFLATE_INSUFFICIENT_SPACE && output.size() < kMostInflated) {
        output.resize(std::min(2 * output.size(), kMostInflated));
        continue;
      }
      if (result != LIBDEFLATE_SUCCESS) return std::nullopt;
      if (input.size() - taken > kMostTrailing) return std::nullopt;
      output.resize(made);
      return output;
    }
  }

 private:
  std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)>
      engine_{libdeflate_alloc_decompressor(), &libdeflate_free_decompressor};
};

}  // namespace

class AvroWriter::Deflater {
 public:
  Deflater() { AMEND_CHECK(engine_ != nullptr); }

  std::string Run(std::string_view input) {
    std::string output(libdeflate_deflate_compress_bound(engine_.get(), input.size()),
                       '\0');
    std::size_t made = libdeflate_deflate_compress(
        engine_.get(), input.data(), input.size(), output.data(), output.size());
    AMEND_CHECK(made > 0);  // the bound is enough
    output.resize(made);
    return output;
  }

 private:
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> engine_{
      libdeflate_alloc_compressor(kLevel), &libdeflate_free_compressor};
};

/// Turns schema JSON into nodes. Only fixed and enum types can be referred to by name.
class AvroSchemaParser {
 public:
  explicit AvroSchemaParser(AvroSchema& schema) : schema_(schema) {}

  Result<const AvroType*> Parse(const Json& json) {
    if (json.is_string()) return Named(json.get<std::string>());
    if (json.is_array()) return Union(json);
    auto type = json.is_object() ? json.find("type") : json.end();
    if (!json.is_object() || type == json.end()) return Bad("a type is missing");
    if (!type->is_string()) return Parse(*type);
    auto kind = type->get<std::string>();
    if (kind == "record") return Record(json);
    if (kind == "array") return Container(json, AvroKind::kArray, "items");
    if (kind == "map") return Container(json, AvroKind::kMap, "values");
    if (kind == "fixed") return Fixed(json);
    if (kind == "enum") return Remember(json, New(AvroKind::kEnum, json));
    for (const auto& [name, primitive] : kPrimitives) {
      if (name == kind) return New(primitive, json);
    }
    return Named(kind);
  }

 private:
  using Node = Result<const AvroType*>;

  static Node Bad(std::string_view why) {
    return Fail(Damaged(fmt::format("the Avro schema is not valid: {}", why)));
  }

  AvroType* New(AvroKind kind, const Json& json) {
    schema_.types_.push_back(std::make_unique<AvroType>());
    AvroType* type = schema_.types_.back().get();
    type->kind = kind;
    if (json.is_object()) {
      auto it = json.find("logicalType");
      if (it != json.end() && it->is_string()) type->logical = it->get<std::string>();
    }
    return type;
  }

  Node Named(const std::string& name) {
    for (const auto& [text, kind] : kPrimitives) {
      if (text == name) return New(kind, Json());
    }
    if (records_.contains(name)) {
      return Fail(Unsupported(
          fmt::format("the Avro schema refers to record '{}' by name", name)));
    }
    auto it = named_.find(name);
    if (it == named_.end()) return Bad(fmt::format("'{}' is no type", name));
    return it->second;
  }

  Node Remember(const Json& json, const AvroType* type) {
    AMEND_ASSIGN(std::string name, JsonString(json, "name", "Avro schema"));
    named_[name] = type;
    return type;
  }

  Node Union(const Json& json) {
    AvroType* type = New(AvroKind::kUnion, json);
    for (const Json& branch : json) {
      AMEND_ASSIGN(const AvroType* part, Parse(branch));
      type->parts.push_back(part);
    }
    return type;
  }

  Node Container(const Json& json, AvroKind kind, const char* member) {
    AvroType* type = New(kind, json);
    auto it = json.find(member);
    if (it == json.end()) return Bad(fmt::format("'{}' is missing", member));
    AMEND_ASSIGN(const AvroType* part, Parse(*it));
    type->parts.push_back(part);
    return type;
  }

  Node Fixed(const Json& json) {
    AvroType* type = New(AvroKind::kFixed, json);
    AMEND_ASSIGN(std::int64_t size, JsonInt(json, "size", "Avro schema"));
    if (size < 0) return Bad("a fixed type of negative size");
    type->size = static_cast<std::size_t>(size);
    return Remember(json, type);
  }

  Node Record(const Json& json) {
    AMEND_ASSIGN(std::string name, JsonString(json, "name", "Avro schema"));
    records_[name] = true;
    AvroType* type = New(AvroKind::kRecord, json);
    auto fields = json.find("fields");
    if (fields == json.end() || !fields->is_array())
      return Bad("a record without fields");
    for (const Json& one : *fields) {
      AvroField field;
      AMEND_ASSIGN(field.name, JsonString(one, "name", "Avro schema"));
      auto it = one.find("type");
      if (it == one.end()) return Bad(fmt::format("'{}' has no type", field.name));
      AMEND_ASSIGN(field.type, Parse(*it));
      auto id = one.find("field-id");
      if (id != one.end() && id->is_number_integer()) {
        auto number = id->get<std::int64_t>();
        if (number >= 0 && number <= std::numeric_limits<int>::max()) {
          field.id = static_cast<int>(number);
        }
      }
      type->fields.push_back(std::move(field));
    }
    return type;
  }

  AvroSchema& schema_;
  std::map<std::string, const AvroType*> named_;
  std::map<std::string, bool> records_;
};

Result<AvroSchema> AvroSchema::Parse(std::string_view json) {
  AMEND_ASSIGN(Json document, ParseJson(json, "Avro schema"));
  AvroSchema schema;
  AMEND_ASSIGN(schema.root_, AvroSchemaParser(schema).Parse(document));
  return schema;
}

void AvroDecoder::Fail(std::string_view error) {
  if (error_.empty()) error_ = error;
  rest_ = {};
}

bool AvroDecoder::Expect(const AvroType& type, AvroKind one, AvroKind other) {
  if (!ok()) return false;
  if (type.kind == one || type.kind == other) return true;
  Fail("a value has another type than the format says");
  return false;
}

std::int64_t AvroDecoder::Long() {
  std::uint64_t zigzag = 0;
  std::size_t most = std::min(rest_.size(), kMostOfALong);
  for (std::size_t i = 0; i < most; ++i) {
    auto byte = static_cast<unsigned char>(rest_[i]);
    zigzag |= std::uint64_t{byte & 0x7fU} << (7 * i);
    if ((byte & 0x80U) == 0) {
      rest_.remove_prefix(i + 1);
      return static_cast<std::int64_t>((zigzag >> 1U) ^ (~(zigzag & 1U) + 1U));
    }
  }
  Fail(most < kMostOfALong ? "it ends within a number"
                           : "a number has more than 64 bits");
  return 0;
}

std::string_view AvroDecoder::Raw(std::size_t size) {
  if (size > rest_.size()) {
    Fail("it ends within a value");
    return {};
  }
  std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

std::string_view AvroDecoder::Sized() {
  std::int64_t size = Long();
  if (size < 0) {
    Fail("a length is negative");
    return {};
  }
  return Raw(static_cast<std::size_t>(size));
}

std::int64_t AvroDecoder::BlockCount() {
  std::int64_t count = Long();
  if (count < 0) {  // then the block's size in bytes follows, for those who skip it
    Long();
    count = count == std::numeric_limits<std::int64_t>::min() ? 0 : -count;
    if (count == 0) Fail("a count is out of range");
  }
  if (static_cast<std::uint64_t>(count) > rest_.size()) {
    Fail("a count exceeds what follows");
    return 0;
  }
  return count;
}

const AvroType& AvroDecoder::Resolve(const AvroType& type) {
  static const AvroType kNothing;
  if (type.kind != AvroKind::kUnion) return type;
  std::int64_t branch = Long();
  if (branch < 0 || static_cast<std::uint64_t>(branch) >= type.parts.size()) {
    Fail("a union has no such branch");
    return kNothing;
  }
  return ok() ? *type.parts[static_cast<std::size_t>(branch)] : kNothing;
}

bool AvroDecoder::Boolean(const AvroType& type) {
  if (!Expect(type, AvroKind::kBoolean, AvroKind::kBoolean)) return false;
  std::string_view byte = Raw(1);
  return !byte.empty() && byte[0] != '\0';
}

std::int64_t AvroDecoder::Integer(const AvroType& type) {
  if (!Expect(type, AvroKind::kInt, AvroKind::kLong)) return 0;
  std::int64_t number = Long();
  bool fits = number >= std::numeric_limits<std::int32_t>::min() &&
              number <= std::numeric_limits<std::int32_t>::max();
  if (type.kind == AvroKind::kInt && !fits) {
    Fail("an int has more than 32 bits");
    return 0;
  }
  return number;
}

double AvroDecoder::Number(const AvroType& type) {
  if (!Expect(type, AvroKind::kFloat, AvroKind::kDouble)) return 0;
  bool is_float = type.kind == AvroKind::kFloat;
  std::string_view bytes = Raw(is_float ? sizeof(float) : sizeof(double));
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    bits |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (is_float) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

std::string_view AvroDecoder::Bytes(const AvroType& type) {
  if (type.kind == AvroKind::kFixed) return Raw(type.size);
  if (!Expect(type, AvroKind::kBytes, AvroKind::kString)) return {};
  return Sized();
}

template <typename SkipItem>
void AvroDecoder::SkipBlocks(SkipItem skip_item) {
  while (ok()) {
    if (!rest_.empty() && (static_cast<unsigned char>(rest_[0]) & 1U) != 0) {
      Long();  // a negative count, told by the lowest bit: the block's bytes follow
      Sized();
      continue;
    }
    std::int64_t count = BlockCount();
    if (count == 0) return;
    for (std::int64_t i = 0; i < count && ok(); ++i) skip_item();
  }
}

void AvroDecoder::Skip(const AvroType& type) {
  if (!ok()) return;
  switch (type.kind) {
    case AvroKind::kNull:
      return;
    case AvroKind::kBoolean:
      Raw(1);
      return;
    case AvroKind::kInt:
    case AvroKind::kLong:
    case AvroKind::kEnum:
      Long();
      return;
    case AvroKind::kFloat:
      Raw(sizeof(float));
      return;
    case AvroKind::kDouble:
      Raw(sizeof(double));
      return;
    case AvroKind::kBytes:
    case AvroKind::kString:
      Sized();
      return;
    case AvroKind::kFixed:
      Raw(type.size);
      return;
    case AvroKind::kUnion:
      Skip(Resolve(type));
      return;
    case AvroKind::kRecord:
      Fields(type, [](const AvroField&) { return false; });
      return;
    case AvroKind::kArray:
      SkipBlocks([&] { Skip(*type.parts[0]); });
      return;
    case AvroKind::kMap:
      SkipBlocks([&] {
        Sized();
        Skip(*type.parts[0]);
      });
      return;
  }
}

void AvroEncoder::Long(std::int64_t number) {
  auto bits = static_cast<std::uint64_t>(number);
  std::uint64_t zigzag = (bits << 1U) ^ (~(bits >> 63U) + 1U);
  char* out = Room(kMostOfALong);
  char* const begin = out;
  while (zigzag >= 0x80) {
    *out++ = static_cast<char>(static_cast<unsigned char>(zigzag | 0x80U));
    zigzag >>= 7U;
  }
  *out++ = static_cast<char>(zigzag);
  size_ += static_cast<std::size_t>(out - begin);
}

void AvroEncoder::Float(float number) {
  auto bits = std::bit_cast<std::uint32_t>(number);
  char* out = Room(sizeof(bits));
  for (unsigned shift = 0; shift < 32; shift += 8) {
    *out++ = static_cast<char>(static_cast<unsigned char>(bits >> shift));
  }
  size_ += sizeof(bits);
}

void AvroEncoder::Double(double number) {
  auto bits = std::bit_cast<std::uint64_t>(number);
  char* out = Room(sizeof(bits));
  for (unsigned shift = 0; shift < 64; shift += 8) {
    *out++ = static_cast<char>(static_cast<unsigned char>(bits >> shift));
  }
  size_ += sizeof(bits);
}

void AvroEncoder::Sized(std::string_view bytes) {
  Long(static_cast<std::int64_t>(bytes.size()));
  Raw(bytes);
}

void AvroEncoder::Raw(std::string_view bytes) {
  std::copy(bytes.begin(), bytes.end(), Room(bytes.size()));
  size_ += bytes.size();
}

void AvroEncoder::Grow(std::size_t more) {
  room_.resize(std::max(2 * room_.size(), size_ + more));
}

void AvroEncoder::InsertHead(std::size_t start, std::size_t count) {
  std::size_t end = size_;
  Long(-static_cast<std::int64_t>(count));
  Long(static_cast<std::int64_t>(end - start));
  std::string head = room_.substr(end, size_ - end);
  char* begin = room_.data() + start;
  std::copy_backward(begin, room_.data() + end, room_.data() + size_);
  std::copy(head.begin(), head.end(), begin);
}

void AvroEncoder::BeginItems(std::size_t count) {
  if (count > 0) Long(static_cast<std::int64_t>(count));
}

Status AvroReader::Bad(std::string_view why) const {
  return Damaged(fmt::format("{} is damaged: {}", what_, why))
      .Hint("restore the file, or return the table to a snapshot that does not use it");
}

Result<AvroReader> AvroReader::Open(std::string_view bytes, std::string what) {
  AvroReader reader;
  reader.what_ = std::move(what);
  AvroDecoder decoder(bytes);
  AMEND_FAIL_IF_ERROR(reader.ReadHeader(decoder));
  reader.blocks_ = bytes.substr(bytes.size() - decoder.remaining());
  const std::string* text = reader.FindHeader("avro.schema");
  if (text == nullptr) return Fail(reader.Bad("it has no schema"));
  auto schema = AvroSchema::Parse(*text);
  if (!schema) return Fail(schema.error().Annotate(reader.what_));
  reader.schema_ = std::move(*schema);
  const std::string* codec = reader.FindHeader("avro.codec");
  reader.deflated_ = codec != nullptr && *codec == "deflate";
  if (codec != nullptr && !reader.deflated_ && *codec != "null") {
    return Fail(Unsupported(fmt::format("{} is compressed with '{}'; Amend reads deflate "
                                        "and null",
                                        reader.what_, *codec))
                    .Hint("set write.manifest.compression-codec to gzip and rewrite the "
                          "manifests"));
  }
  return reader;
}

Status AvroReader::ReadHeader(AvroDecoder& decoder) {
  if (decoder.Raw(kMagic.size()) != kMagic) return Bad("it is not an Avro file");
  for (std::int64_t count = decoder.BlockCount(); count > 0;
       count = decoder.BlockCount()) {
    for (std::int64_t i = 0; i < count && decoder.ok(); ++i) {
      std::string key(decoder.Sized());
      header_[key] = decoder.Sized();
    }
  }
  sync_ = decoder.Raw(kSyncSize);
  return decoder.ok() ? Status() : Bad(decoder.error());
}

const std::string* AvroReader::FindHeader(std::string_view key) const {
  auto it = header_.find(key);
  return it == header_.end() ? nullptr : &it->second;
}

Status AvroReader::ForEach(const ReadRecord& read) const {
  AvroDecoder decoder(blocks_);
  Inflater inflater;
  while (!decoder.at_end()) {
    std::int64_t count = decoder.Long();
    std::string_view payload = decoder.Sized();
    std::string_view sync = decoder.Raw(kSyncSize);
    if (!decoder.ok()) return Bad(decoder.error());
    if (sync != sync_) return Bad("a block does not end with the file's marker");
    if (!deflated_) {
      AMEND_RETURN_IF_ERROR(ReadBlock(payload, count, read));
      continue;
    }
    auto inflated = inflater.Run(payload);
    if (!inflated) return Bad("a block cannot be decompressed");
    AMEND_RETURN_IF_ERROR(ReadBlock(*inflated, count, read));
  }
  return decoder.ok() ? Status() : Bad(decoder.error());
}

Status AvroReader::ReadBlock(std::string_view payload, std::int64_t count,
                             const ReadRecord& read) const {
  if (count < 0 || static_cast<std::uint64_t>(count) > payload.size()) {
    return Bad("a block has an impossible number of records");
  }
  AvroDecoder decoder(payload);
  for (std::int64_t i = 0; i < count; ++i) {
    Status status = read(decoder, schema_.root());
    if (!decoder.ok()) return Bad(decoder.error());
    AMEND_RETURN_IF_ERROR(status);
  }
  return decoder.at_end() ? Status() : Bad("a block holds more than its records");
}

AvroWriter::AvroWriter(std::string schema, Header header, AvroCodec codec)
    : header_(std::move(header)),
      deflater_(codec == AvroCodec::kDeflate ? std::make_unique<Deflater>() : nullptr) {
  header_.emplace_back("avro.schema", std::move(schema));
  header_.emplace_back("avro.codec", codec == AvroCodec::kDeflate ? "deflate" : "null");
}

AvroWriter::~AvroWriter() = default;

void AvroWriter::EndRecord() {
  ++records_;
  if (block_.bytes().size() >= kBlockSize) EndBlock();
}

void AvroWriter::EndBlock() {
  if (records_ == 0) return;
  std::string_view bytes = block_.bytes();
  blocks_.emplace_back(records_, deflater_ ? deflater_->Run(bytes) : std::string(bytes));
  block_.Clear();
  records_ = 0;
}

std::string AvroWriter::Finish() && {
  EndBlock();
  Fingerprinter content;
  for (const auto& [key, value] : header_) content.Add(key).Add(value);
  for (const auto& [count, payload] : blocks_) content.Add(count).Add(payload);
  // Hex digits of a SHA-256: 64 bits are plenty for a marker that no payload must hold.
  std::string sync = content.Hex().substr(0, kSyncSize);
  AvroEncoder file;
  file.Raw(kMagic);
  file.BeginItems(header_.size());
  for (const auto& [key, value] : header_) {
    file.Sized(key);
    file.Sized(value);
  }
  file.EndItems();
  file.Raw(sync);
  for (const auto& [count, payload] : blocks_) {
    file.Long(count);
    file.Sized(payload);
    file.Raw(sync);
  }
  return std::string(file.bytes());
}

}  // namespace amend::iceberg
