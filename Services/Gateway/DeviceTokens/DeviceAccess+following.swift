import Base
import Bus
import CoreMetrics
import Instruments
import Logging
import Schemas
import ServiceKit
import ServiceLifecycle
import Synchronization

extension DeviceAccess {
    /// How long the service is silent before it is asked. It announces the ends every second.
    private static var silence: Duration { .milliseconds(1_200) }
    /// The time between a failed attempt and the next one.
    private static var retryInterval: Duration { .milliseconds(300) }
    private static var readTimeout: Duration { .seconds(1) }
    /// How often old ends and tokens are forgotten.
    private static var forgetInterval: Duration { .seconds(60) }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await self.follow() }
                group.addTask {
                    await RepeatingService(every: Self.retryInterval) {
                        await self.readIfNecessary()
                        return .after(Self.retryInterval)
                    }.run()
                }
                group.addTask {
                    await RepeatingService(every: Self.forgetInterval) {
                        self.forgetOld()
                        return .periodic
                    }.run()
                }
            }
        }
    }

    /// Waits until the people service has told the ends and keys, but not for long: then what is known is used.
    ///
    /// - Parameter timeout: How long to wait if nothing is known yet. With what an earlier moment knows, the wait is short.
    func confirm(within timeout: Duration) async {
        let isNew = state.withLock { $0.ends.publicKeys.isEmpty }
        let deadline = ContinuousClock.now + (isNew ? timeout : min(timeout, Credentials.shortTimeout))
        // A read that was already running may be from before a pause of the process. The next read is not.
        for _ in 0..<2 {
            guard await read().finishes(by: deadline), state.withLock({ $0.ends.mustConfirm(at: .now) }) else { break }
        }
        state.withLock { state in
            if state.ends.mustConfirm(at: .now) { state.ends.couldNotConfirm(at: .now) }
        }
    }

    /// Uses the ends and keys of an earlier process, and waits until the people service has confirmed them, or cannot be asked.
    func restore(_ kept: KeptEnds) async {
        state.withLock { $0.ends.restore(kept) }
        await read().value
    }

    private func follow() async {
        for await event in subscriber.events {
            guard case .event(_, let payload, _) = event else { continue }
            do {
                let changes = try JSONCoder.decode(DevicesChanged.self, from: payload)
                let (news, mustRead) = state.withLock { $0.ends.announced(changes, at: .now) }
                tell(news)
                if mustRead { await read().value }
            } catch {
                logger.warning("an event cannot be read", metadata: ["event": "\(DevicesChanged.name)", "error": "\(error)"])
            }
        }
    }

    private func readIfNecessary() async {
        if state.withLock({ $0.ends.mustRead(at: .now, silence: Self.silence) }) { await read().value }
    }

    /// Reads the ends. Concurrent callers share one read.
    private func read() -> Task<Void, Never> {
        reading.withLock { reading in
            if let reading { return reading }
            let task = Task {
                await self.readAlone()
                self.reading.withLock { $0 = nil }
            }
            reading = task
            return task
        }
    }

    private func readAlone() async {
        var hasMore = true
        while hasMore {
            let after = state.withLock(\.ends.applied)
            let asked = ContinuousClock.now
            do throws(CommandFailure) {
                let changes = try await people.request(ReadDeviceChanges(after: after), timeout: Self.readTimeout)
                tell(state.withLock { $0.ends.read(changes, asked: asked) })
                hasMore = changes.more == true && changes.sequence > after
            } catch {
                // The next check tries again. If the process was paused during the request, it does not count as an attempt.
                if ContinuousClock.now - asked < CredentialCache.silence {
                    state.withLock { $0.ends.couldNotConfirm(at: .now) }
                }
                logger.debug("the ends of devices cannot be read", metadata: ["error": "\(error)"])
                return
            }
        }
    }

    private func forgetOld() {
        let count = state.withLock { state in
            state.ends.forgetOld(at: .now)
            state.verified.forgetExpired(at: .now)
            return state.ends.count
        }
        Instrument.deviceEnds.gauge().set(count)
    }
}
