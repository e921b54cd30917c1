import Base
import Schemas

// What happens to the record of a push to persons beside its delivery, as pure changes. An account is a recipient until its devices are known.
// So the names of persons are only in pushes that wait.

extension DeliveryRecord {
    /// Puts the devices of accounts in the place of these, and ends the parts for devices that are missing.
    ///
    /// - Parameter devices: All devices that the accounts, and the parts that are still to be sent, have now.
    mutating func resolve(to devices: [ReachedDevice]) {
        let byAccount = Dictionary(grouping: devices, by: \.account)
        let byID = Dictionary(devices.map { ($0.device, $0) }) { first, _ in first }
        changePush { push in
            push.recipients = push.recipients.flatMap { part -> [RecipientRecord] in
                guard part.state == .pending else { return [part] }
                if let account = part.recipient.account {
                    return (byAccount[account] ?? []).map {
                        RecipientRecord(recipient: PushRecipient(device: $0.device, by: $0.transport))
                    }
                }
                guard let id = part.recipient.device else { return [part] }
                var part = part
                if let device = byID[id] {
                    part.recipient = PushRecipient(device: id, by: device.transport)
                } else {
                    (part.state, part.error) = (.failed, DeliveryError(.deviceGone))
                }
                return [part]
            }
        }
    }

    /// Forgets the names of accounts whose devices were never known. The push has ended, and stays in the archive when a person is erased.
    mutating func forgetAccounts() {
        guard namesPersons else { return }
        changePush { push in
            for index in push.recipients.indices where push.recipients[index].recipient.account != nil {
                push.recipients[index].recipient = .account("")
            }
        }
    }

    /// Removes the parts of an account that is erased. Without another part the push has ended.
    ///
    /// A lease becomes a little shorter, so that its process does not store the record that it has read before.
    mutating func erase(_ account: AccountName, at now: UnixMilliseconds, expires: UnixMilliseconds) {
        changePush { push in push.recipients.removeAll { $0.recipient.account == account } }
        shortenLease()
        if pendingParts.isEmpty { expire(at: now, expires: expires) }
    }

    /// Leaves accounts to the queue of FCM, which is always claimed, while Web Push is switched off.
    mutating func leaveAccountsToFCM(at now: UnixMilliseconds) {
        releaseLease(at: now)
        webpushAttempt = nil
    }

    /// Whether it waits for the devices of accounts.
    var namesPersons: Bool {
        (self as? PushRecord)?.recipients.contains { $0.recipient.account != nil } ?? false
    }

    private mutating func changePush(_ change: (inout PushRecord) -> Void) {
        guard var push = self as? PushRecord else { return }
        change(&push)
        // A change does not change the record's type.
        self = push as? Self ?? self
    }
}

extension RecipientRecord {
    /// Whether the device is not reached any more: the app is gone, or the person has signed out.
    var isGone: Bool { isUnregistered || state == .failed && error?.catalogued == .deviceGone }
}
