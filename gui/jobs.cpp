#include "gui/jobs.h"

#include <QMetaObject>
#include <QThread>

#include <algorithm>
#include <exception>

namespace stave::gui {
namespace {

QString text_of(const Progress& progress) {
  QString job = QString::fromUtf8(progress.job.load());
  const std::int64_t total = progress.total, done = progress.done;
  if (total > 0) return QString("%1: %2 %").arg(job).arg(100 * std::min(done, total) / total);
  return job;
}

}  // namespace

Jobs::Jobs(QObject* parent) : QObject(parent) {
  // Whatever the number of cores: a long import must not hold up a prediction.
  pool_.setMaxThreadCount(std::max(4, QThread::idealThreadCount()));
}

Jobs::~Jobs() {
  for (const auto& [name, job] : running_) job->cancel = true;
  pool_.waitForDone();
}

void Jobs::run(const std::string& name, std::function<void(Progress&)> work,
               std::function<void(const std::string& failure)> done) {
  cancel(name);
  auto job = std::make_shared<Job>();
  job->number = ++started_;
  job->progress.cancel = &job->cancel;
  running_[name] = job;
  pool_.start([this, name, job, work = std::move(work), done = std::move(done)] {
    std::string failure;
    // Nothing of ours throws; what the standard library throws, such as a lack of memory, must not end the window.
    try {
      work(job->progress);
    } catch (const std::exception& e) {
      failure = std::string("this could not be finished: ") + e.what();
    }
    QMetaObject::invokeMethod(
        this,
        [this, name, job, done, failure] {
          const auto at = running_.find(name);
          if (at == running_.end() || at->second != job) return;
          running_.erase(at);
          done(failure);
          emit changed();
        },
        Qt::QueuedConnection);
  });
  emit changed();
}

void Jobs::cancel(const std::string& name) {
  const auto at = running_.find(name);
  if (at == running_.end()) return;
  at->second->cancel = true;
  running_.erase(at);
  emit changed();
}

QString Jobs::progress_of(const std::string& name) const {
  const auto at = running_.find(name);
  return at == running_.end() ? QString() : text_of(at->second->progress);
}

QString Jobs::progress() const {
  const Job* newest = nullptr;
  for (const auto& [name, job] : running_)
    if (newest == nullptr || job->number > newest->number) newest = job.get();
  return newest == nullptr ? QString() : text_of(newest->progress);
}

std::vector<std::string> Jobs::names() const {
  std::vector<std::string> names;
  for (const auto& [name, job] : running_) names.push_back(name);
  return names;
}

}  // namespace stave::gui
