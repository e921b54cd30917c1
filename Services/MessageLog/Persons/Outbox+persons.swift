import Archive
import Base
import Schemas
import ServiceKit

/// Pushes to persons: their devices are asked for in the turn, under its lease.
extension Outbox {
    /// The wait before the people service is asked again.
    private static let pauseWithoutDevices = Milliseconds.seconds(2)
    /// The wait for a newer message log.
    private static let pauseForNewer = Milliseconds.seconds(60)
    /// The wait before a push goes again to a device whose app is gone, because the people service could not be told of it.
    private static let pauseWithoutReport = Milliseconds.seconds(5)

    /// Asks for the devices, stores them in the place of the accounts, and hands the push to the relays.
    ///
    /// - Parameter deadline: The end of the lease.
    func relayToPersons(_ item: OutboxItem, _ push: Push, until deadline: UnixMilliseconds) async -> TurnEnd {
        guard let content = push.person else {
            return await postpone(
                item, DeliveryError(.relayTooOld, "a newer version has logged the push", retryAfter: Self.pauseForNewer))
        }
        let devices: [ReachedDevice]
        do throws(CommandFailure) {
            devices = try await persons.devices(ResolveDevices(of: push, content))
            asking.worked(of: "devices")
        } catch {
            guard !Task.isCancelled else { return TurnEnd(turn: .dropped) }
            asking.failed(error, of: "devices")
            return await postpone(item, DeliveryError(.peopleUnreachable, retryAfter: Self.pauseWithoutDevices))
        }
        var (item, deadline) = (item, deadline)
        var resolved = push.relay
        resolved.resolve(to: devices)
        if resolved != push.relay {
            let lease = lease(at: .now)
            let stored = await renewLease(of: item.key, from: push.relay.lease, to: lease) { $0.resolve(to: devices) }
            guard let stored else { return TurnEnd(turn: .dropped) }
            (item, deadline) = (stored, lease.until)
        }
        // The rest is for a report of devices whose apps are gone.
        return await handOver(
            item, to: PersonAddresses(content, devices), until: deadline - Milliseconds(BusPersonDirectory.timeout))
    }

    /// Ends a turn without an attempt. The push is due again after the error's wait.
    private func postpone(_ item: OutboxItem, _ error: DeliveryError) async -> TurnEnd {
        await record(item.record.dueTransports(at: .now).all.map { AttemptOutcome($0, .unreachable(error)) }, of: item)
        return TurnEnd(turn: .unresolved)
    }

    /// Reports devices whose apps are gone, before their outcome is stored, so that no report is lost. While it is not answered, they stay
    /// pending.
    func reportingGone(_ results: [PartResult], of push: Push, at addresses: PersonAddresses) async -> [PartResult] {
        let gone = results.filter { $0.unregistered != nil }.compactMap { addresses[push.relay.recipients[$0.part].recipient] }
        guard !gone.isEmpty else { return results }
        do throws(CommandFailure) {
            try await persons.report(
                EndDevicePushes(devices: gone.map { EndDevicePushes.Ended(device: $0.device, registered: $0.registered) }))
            asking.worked(of: "reports")
            return results
        } catch {
            asking.failed(error, of: "reports")
            return results.map { result in
                guard let error = result.unregistered else { return result }
                let pending = DeliveryError(
                    class: .retryable, code: error.code, message: error.message, retryAfter: Self.pauseWithoutReport)
                return PartResult(part: result.part, result: .failure(pending))
            }
        }
    }

    /// Removes an account from the pushes that wait.
    ///
    /// - Returns: From how many.
    func erase(_ account: AccountName) async throws -> Int {
        var count = 0
        for key in try await store.pushesWaiting(for: account) {
            let changed = try await store.change(key) { record, item, time in
                record.erase(account, at: time.now, expires: item.expires)
            }
            guard let changed else { continue }
            count += 1
            if changed.item.record.nextAttempt == nil { announcer.announce(changed) }
        }
        return count
    }
}

extension MessageStore {
    /// The pushes that an account is a recipient of and whose devices are not known yet.
    func pushesWaiting(for account: AccountName) async throws -> [OutboxKey] {
        try await waiting(after: -1) { $0.push?.relay.recipients.contains { $0.recipient.account == account } ?? false }
    }
}

extension ResolveDevices {
    /// For the parts of a push that are still to be sent.
    fileprivate init(of push: Push, _ content: StoredPersonPush) {
        let recipients = push.relay.pendingParts.map { push.relay.recipients[$0].recipient }
        self.init(
            accounts: recipients.compactMap(\.account), devices: recipients.compactMap(\.device), kind: content.kind,
            except: content.exceptDevice)
    }
}

extension PartResult {
    /// The error of a device whose app is gone for FCM or its push service; `nil` otherwise.
    fileprivate var unregistered: DeliveryError? {
        guard case .failure(let error) = result, error.class == .permanent, error.isUnregistered else { return nil }
        return error
    }
}
