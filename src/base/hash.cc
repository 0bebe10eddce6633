#include "base/hash.h"

#include <openssl/evp.h>

#include <array>

#include "base/env.h"

namespace amend {
namespace {

std::string Hex(const unsigned char* bytes, std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(size * 2);
  for (std::size_t i = 0; i < size; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

}  // namespace

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  AMEND_CHECK(EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(),
                         nullptr) == 1);
  return Hex(digest.data(), size);
}

Result<std::string> Sha256File(Env& env, const std::string& path) {
  constexpr std::int64_t kPiece = 1 << 20;
  AMEND_ASSIGN(FileInfo info, env.Info(path));
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                  &EVP_MD_CTX_free);
  AMEND_CHECK(EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
  for (std::int64_t at = 0; at < info.size; at += kPiece) {
    AMEND_ASSIGN(std::string piece, env.ReadRange(path, at, kPiece));
    AMEND_CHECK(EVP_DigestUpdate(context.get(), piece.data(), piece.size()) == 1);
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  AMEND_CHECK(EVP_DigestFinal_ex(context.get(), digest.data(), &size) == 1);
  return Hex(digest.data(), size);
}

Fingerprinter& Fingerprinter::Add(std::string_view field) {
  bytes_ += std::to_string(field.size());
  bytes_ += ':';
  bytes_ += field;
  return *this;
}

Fingerprinter& Fingerprinter::Add(std::int64_t number) {
  return Add(std::string_view(std::to_string(number)));
}

std::string Fingerprinter::Hex() const { return Sha256Hex(bytes_); }

}  // namespace amend
