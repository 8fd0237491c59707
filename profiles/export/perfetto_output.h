// The packets of a Perfetto trace with one sequence, and the texts that they intern.
#pragma once

#include <cstdint>
#include <optional>
#include <protozero/pbf_builder.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/export/output_file.h"
#include "profiles/export/texts.h"
#include "profiles/perfetto_messages.h"

namespace stave {

class PerfettoOutput {
 public:
  explicit PerfettoOutput(OutputFile& out) : out_(out) {}

  // Sends a packet that `fill` fills. What was interned since the last one goes with it.
  template <class Fill>
  void packet(std::optional<std::int64_t> ns, Fill fill) {
    using perfetto::Packet;
    packet_.clear();
    {
      protozero::pbf_builder<Packet> packet(packet_);
      if (ns) packet.add_uint64(Packet::timestamp, static_cast<std::uint64_t>(*ns));
      packet.add_uint32(Packet::sequence, only_sequence);
      packet.add_uint32(Packet::sequence_flags, first_ ? perfetto::flag_cleared : perfetto::flag_needs_state);
      first_ = false;
      fill(packet);
      if (!interned_.empty()) packet.add_message(Packet::interned_data, interned_);
      interned_.clear();
    }
    framed_.clear();
    protozero::pbf_builder<perfetto::Trace>(framed_).add_message(perfetto::Trace::packet, packet_);
    out_ << framed_;
  }

  // An entry of a table of texts.
  void intern(perfetto::InternedData table, std::uint64_t iid, std::string_view text) {
    protozero::pbf_builder<perfetto::InternedData> data(interned_);
    protozero::pbf_builder<perfetto::Interned> entry(data, table);
    entry.add_uint64(perfetto::Interned::iid, iid);
    entry.add_string(perfetto::Interned::text, utf8_text(text));
  }
  // An entry of any kind, which `fill` fills.
  template <class Entry, class Fill>
  void intern_entry(perfetto::InternedData table, Fill fill) {
    protozero::pbf_builder<perfetto::InternedData> data(interned_);
    protozero::pbf_builder<Entry> entry(data, table);
    fill(entry);
  }

 private:
  static constexpr std::uint32_t only_sequence = 1;

  OutputFile& out_;
  bool first_ = true;
  std::string packet_, framed_, interned_;
};

}  // namespace stave
