// How the processes of a run find each other.
#include "executor/world_sockets.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "core/base/files.h"
#include "core/timeline/pipe.h"

namespace stave {
namespace {

constexpr std::string_view hello = "stave world 1", welcome = "welcome";

Failure socket_failure(std::string_view call, std::string_view address) {
  return error_at({}, "STV0828", "{} for {}: {}", call, address, std::strerror(errno));
}

bool past(World::Deadline deadline) { return std::chrono::steady_clock::now() >= deadline; }

// "HOST:PORT" as it stands behind tcp://.
Result<std::pair<std::string, std::string>> host_and_port(std::string_view address) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == address.size())
    return error_at({}, "STV0828", "rendezvous {}: write it as tcp://HOST:PORT or file:PATH", address);
  return std::pair(std::string(address.substr(0, colon)), std::string(address.substr(colon + 1)));
}

struct Addresses {
  addrinfo* list = nullptr;
  Addresses() = default;
  Addresses(Addresses&& other) noexcept : list(std::exchange(other.list, nullptr)) {}
  ~Addresses() {
    if (list) ::freeaddrinfo(list);
  }
};

Result<Addresses> addresses_of(std::string_view address, bool to_listen) {
  TRY(const auto parts, host_and_port(address));
  addrinfo wanted{};
  wanted.ai_family = AF_INET;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = to_listen ? AI_PASSIVE : 0;
  Addresses found;
  if (const int error = ::getaddrinfo(parts.first.c_str(), parts.second.c_str(), &wanted, &found.list); error != 0)
    return error_at({}, "STV0828", "rendezvous {}: {}", address, ::gai_strerror(error));
  return found;
}

Result<int> listen_at(std::string_view address) {
  TRY(const Addresses at, addresses_of(address, true));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (fd < 0 || ::bind(fd, at.list->ai_addr, at.list->ai_addrlen) != 0 || ::listen(fd, 1024) != 0) {
    Failure failure = socket_failure("cannot listen", address);
    if (fd >= 0) ::close(fd);
    return failure;
  }
  return fd;
}

// What stands in a rendezvous file: "HOST:PORT TOKEN". The token keeps strangers out.
std::string new_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

std::string own_name() {
  char name[256] = "127.0.0.1";
  ::gethostname(name, sizeof(name) - 1);
  return name;
}

// Short messages at once, and no wait for good for one that stops in the middle of a message.
void set_up(int fd, std::chrono::seconds patience) {
  const int yes = 1;
  const timeval limit{patience.count(), 0};
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

constexpr std::chrono::seconds greeting{5}, message{60};

// Whoever connects may be a port scan: what it sends is looked at only if it is short.
Result<std::string> greeting_of(int fd) {
  constexpr std::size_t head = 12, longest = 4096;  // kind and length of a frame (core/timeline/pipe.h)
  unsigned char bytes[head];
  if (!readable(fd, std::chrono::steady_clock::now() + greeting) ||
      ::recv(fd, bytes, head, MSG_PEEK | MSG_WAITALL) != static_cast<ssize_t>(head))
    return error_at({}, "STV0828", "no greeting");
  std::uint64_t size = 0;
  for (std::size_t i = 0; i < 8; ++i) size |= std::uint64_t{bytes[4 + i]} << (8 * i);
  if (size > longest) return error_at({}, "STV0828", "a greeting of {} bytes", size);
  return frame_of(fd, 0, std::chrono::steady_clock::now() + greeting, "a greeting");
}

// In a file that only this user can read: the token keeps others out.
Result<void> write_address(const std::string& path, int listening, std::string_view token) {
  sockaddr_in own{};
  socklen_t size = sizeof(own);
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&own), &size);
  const std::string text = fmt::format("{}:{} {}\n", own_name(), ntohs(own.sin_port), token);
  const std::string partial = path + ".partial";
  ::unlink(partial.c_str());
  const int fd = ::open(partial.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return error_at({.file = path}, "STV0828", "the rendezvous cannot be written: {}", std::strerror(errno));
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  if (!whole || ::rename(partial.c_str(), path.c_str()) != 0)
    return error_at({.file = path}, "STV0828", "the rendezvous cannot be written: {}", std::strerror(errno));
  return {};
}

// Which process greets; why it is not one of this run, in words.
Result<std::uint32_t> process_of(std::string_view greeting, const WorldPlace& place, std::string_view token,
                                 const std::vector<int>& peers) {
  ByteReader reader(greeting);
  const std::string_view said = reader.text(), their_token = reader.text();
  const std::uint64_t processes = reader.number(), process = reader.number();
  if (!reader.fine() || said != hello) return error_at({}, "STV0828", "no process of Stave");
  if (their_token != token) return error_at({}, "STV0828", "a process of another run");
  if (processes != place.processes)
    return error_at({}, "STV0828", "process {} says that the run has {} processes, process 0 that it has {}", process,
                    processes, place.processes);
  if (process == 0 || process >= processes || peers[process - 1] >= 0)
    return error_at({}, "STV0828", "there are two processes {}", process);
  return static_cast<std::uint32_t>(process);
}

Result<int> connect_once(std::string_view address) {
  TRY(const Addresses at, addresses_of(address, false));
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd >= 0) set_up(fd, greeting);
  if (fd >= 0 && ::connect(fd, at.list->ai_addr, at.list->ai_addrlen) == 0) return fd;
  Failure failure = socket_failure("process 0 is not to be reached", address);
  if (fd >= 0) ::close(fd);
  return failure;
}

// Connects and greets; an error if process 0 does not welcome this one.
Result<int> greet(std::string_view address, std::string_view token, const WorldPlace& place) {
  TRY(const int fd, connect_once(address));
  ByteWriter writer;
  writer.text(hello);
  writer.text(token);
  writer.number(place.processes);
  writer.number(place.process);
  Result<std::string> answer = write_frame(fd, exchange, writer.bytes())
                                   ? frame_of(fd, 0, std::chrono::steady_clock::now() + greeting, "a greeting")
                                   : Result<std::string>(left(0));
  if (answer && *answer == welcome) {
    set_up(fd, message);
    return fd;
  }
  ::close(fd);
  if (!answer) return Failure(std::move(answer).problems());
  return error_at({}, "STV0828", "process 0 at {} refuses: {}", address, *answer);
}

}  // namespace

Result<std::vector<int>> accept_all(const WorldPlace& place, World::Deadline deadline) {
  const bool by_file = place.rendezvous.starts_with("file:");
  const std::string path = by_file ? place.rendezvous.substr(5) : "";
  const std::string token = by_file ? new_token() : place.job;
  TRY(const int listening, listen_at(by_file ? "0.0.0.0:0" : place.rendezvous.substr(6)));
  std::vector<int> peers(place.processes - 1, -1);
  std::uint32_t missing = place.processes - 1;
  Result<void> fine = by_file ? write_address(path, listening, token) : Result<void>();
  while (fine && missing > 0) {
    if (!readable(listening, deadline)) {
      fine =
          error_at({}, "STV0828", "{} of {} processes did not come to {}; were all started, with the same rendezvous?",
                   missing, place.processes, place.rendezvous);
      break;
    }
    const int fd = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      continue;
    }
    set_up(fd, greeting);
    const Result<std::string> said = greeting_of(fd);
    const Result<std::uint32_t> process =
        said ? process_of(*said, place, token, peers) : Result<std::uint32_t>(Failure(said.problems()));
    const bool told = !said || write_frame(fd, exchange, process ? welcome : process.problems()[0].message).has_value();
    if (!process || !told) {
      ::close(fd);
      continue;
    }
    set_up(fd, message);
    peers[*process - 1] = fd;
    --missing;
  }
  ::close(listening);
  if (by_file) ::unlink(path.c_str());
  if (fine) return peers;
  for (const int fd : peers)
    if (fd >= 0) ::close(fd);
  return Failure(std::move(fine).problems());
}

// Process 0 may start later, and write its file later.
Result<int> connect_to_first(const WorldPlace& place, World::Deadline deadline) {
  const bool by_file = place.rendezvous.starts_with("file:");
  while (true) {
    std::string address = place.rendezvous.substr(by_file ? 5 : 6), token = place.job;
    bool known = true;
    if (by_file) {
      const Result<std::string> text = read_file(address);
      const std::size_t space = text ? text->find(' ') : std::string::npos;
      known = space != std::string::npos && text->ends_with('\n');
      if (known) {
        address = text->substr(0, space);
        token = text->substr(space + 1, text->size() - space - 2);
      }
    }
    Result<int> fd = known ? greet(address, token, place)
                           : Result<int>(error_at({}, "STV0828", "process 0 has not written {}", address));
    if (fd) return fd;
    if (past(deadline)) {
      Failure failure(std::move(fd).problems());
      failure.problems[0].message += "; was it started? Several machines need the same STAVE_RENDEZVOUS";
      return failure;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace stave
