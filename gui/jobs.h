// Work beside the window: jobs run on threads of their own, and what they find
// comes back on the thread of the window. A newer job of the same name makes the
// older one's result void.
#pragma once

#include <QObject>
#include <QThreadPool>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"

namespace stave::gui {

class Jobs : public QObject {
  Q_OBJECT

 public:
  explicit Jobs(QObject* parent = nullptr);
  // Cancels all, and waits for them.
  ~Jobs() override;

  // `work` runs elsewhere and asks `progress` whether it is still wanted; `done`
  // runs here, unless the job was cancelled or a newer one of its name began.
  template <class T>
  void start(const std::string& name, std::function<Result<T>(Progress&)> work, std::function<void(Result<T>)> done) {
    auto result = std::make_shared<std::optional<Result<T>>>();
    run(
        name, [result, work = std::move(work)](Progress& progress) { result->emplace(work(progress)); },
        [result, done = std::move(done)](const std::string& failure) {
          if (*result) {
            done(std::move(**result));
          } else {
            done(error_at({}, "", "{}", failure));
          }
        });
  }

  void cancel(const std::string& name);
  bool busy() const { return !running_.empty(); }
  bool busy(const std::string& name) const { return running_.contains(name); }
  // What the job does now and how far it is: "predicting: 41 %". Empty: no such job.
  QString progress_of(const std::string& name) const;
  // Of the job that began last.
  QString progress() const;
  // Names of what runs, by name.
  std::vector<std::string> names() const;

 signals:
  void changed();  // a job began or ended

 private:
  struct Job {
    std::atomic<bool> cancel{false};
    Progress progress{};
    std::uint64_t number = 0;
  };
  void run(const std::string& name, std::function<void(Progress&)> work,
           std::function<void(const std::string& failure)> done);

  QThreadPool pool_;
  std::map<std::string, std::shared_ptr<Job>> running_;
  std::uint64_t started_ = 0;
};

}  // namespace stave::gui
