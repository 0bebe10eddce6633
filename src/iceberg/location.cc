#include "iceberg/location.h"

#include "base/text.h"
#include "fmt/format.h"

namespace amend::iceberg {
namespace {

/// "s3" of "s3://bucket/key"; empty where the text starts with no scheme.
std::string_view SchemeOf(std::string_view uri) {
  std::size_t colon = uri.find(':');
  std::size_t slash = uri.find('/');
  if (colon == std::string_view::npos || slash < colon) return {};
  return uri.substr(0, colon);
}

std::string WithoutSpareSlashes(std::string_view path) {
  std::string out;
  for (char c : path) {
    if (c == '/' && !out.empty() && out.back() == '/') continue;
    out += c;
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

}  // namespace

Result<std::string> ToLocalPath(std::string_view uri) {
  std::string_view path = uri;
  std::string scheme = ToLower(SchemeOf(uri));
  if (!scheme.empty() && scheme != "file") {
    return Fail(Unsupported(
        fmt::format("'{}' is not a local file; Amend reads tables on local disks", uri)));
  }
  if (scheme == "file") path.remove_prefix(scheme.size() + 1);
  if (path.starts_with("//") && scheme == "file") {
    path.remove_prefix(2);
    std::string_view host = path.substr(0, path.find('/'));
    if (!host.empty() && host != "localhost") {
      return Fail(Unsupported(fmt::format("'{}' is a file of another host", uri)));
    }
    path.remove_prefix(host.size());
  }
  if (!path.starts_with('/') || path.find('\0') != std::string_view::npos) {
    return Fail(Damaged(fmt::format("'{}' is not an absolute path", uri)));
  }
  return std::string(path);
}

std::string ToUri(std::string_view local_path) {
  return "file://" + std::string(local_path);
}

bool SameLocation(std::string_view a, std::string_view b) {
  auto local_a = ToLocalPath(a);
  auto local_b = ToLocalPath(b);
  if (!local_a || !local_b) return a == b;
  return WithoutSpareSlashes(*local_a) == WithoutSpareSlashes(*local_b);
}

}  // namespace amend::iceberg
