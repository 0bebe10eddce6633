#include "base/json.h"

namespace amend {

Result<Json> ParseJson(std::string_view text, std::string_view what, int max_depth) {
  bool too_deep = false;
  Json::parser_callback_t limit = [&too_deep, max_depth](int depth, Json::parse_event_t,
                                                         Json&) {
    too_deep = too_deep || depth > max_depth;
    return !too_deep;
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), limit);
    if (too_deep) {
      return Fail(Damaged(std::string(what) + " is nested deeper than " +
                          std::to_string(max_depth) + " levels"));
    }
    return value;
  } catch (const Json::parse_error& error) {
    return Fail(Damaged(std::string(what) + " is not JSON at byte " +
                        std::to_string(error.byte)));
  }
}

std::string CanonicalJson(const Json& value) {
  // nlohmann::json sorts members; ordered_json keeps their order.
  return nlohmann::json(value).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

Result<std::string> JsonString(const Json& object, std::string_view member,
                               std::string_view what) {
  auto it = object.is_object() ? object.find(std::string(member)) : object.end();
  if (!object.is_object() || it == object.end() || !it->is_string()) {
    return Fail(
        Damaged(std::string(what) + " has no text member '" + std::string(member) + "'"));
  }
  return it->get<std::string>();
}

Result<std::int64_t> JsonInt(const Json& object, std::string_view member,
                             std::string_view what) {
  auto it = object.is_object() ? object.find(std::string(member)) : object.end();
  if (!object.is_object() || it == object.end() || !it->is_number_integer()) {
    return Fail(Damaged(std::string(what) + " has no integer member '" +
                        std::string(member) + "'"));
  }
  return it->get<std::int64_t>();
}

}  // namespace amend
