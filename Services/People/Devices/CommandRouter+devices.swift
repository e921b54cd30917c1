import Base
import Bus
import Schemas
import Store

extension CommandRouter {
    /// The commands about devices and their tokens.
    mutating func serveDevices(_ people: People) {
        serveIdentities(people)
        on(ChallengeDevice.self) { _, _ in try await people.challenges.make() }
        on(ExchangeDeviceToken.self) { command, _ in
            try await SignInCount.deviceToken.count { try await people.exchange(command) }
        }
        on(ListDevices.self) { command, _ in
            try await people.store.snapshot { transaction in
                let devices = try transaction.devices(of: transaction.account(command.account))
                return ListDevices.Reply(devices: devices.sorted { ($1.seen, $1.id) < ($0.seen, $0.id) }.map(\.device))
            }
        }
        on(EndDevice.self) { command, context in
            try await people.changes.make(by: context) { change in
                let account = try change.transaction.account(command.account)
                // A person's own devices are their own business, and not in the audit log.
                let isOwn = context.actor.flatMap { AccountName($0) } == account.name
                if !isOwn { try change.require(.administrator, of: context) }
                if let id = command.device {
                    try change.end(change.transaction.device(id, of: account))
                } else {
                    try change.endDevices(of: account)
                }
                if !isOwn {
                    let ended: JSONValue = ["device": .string(command.device.map { "\($0)" } ?? "all")]
                    try change.record(EndDevice.name, .account(account.name), before: ended)
                }
            }
            people.personEvents.announce(command.account, .devices, command.device.map { "\($0)" })
            return Done()
        }
        on(RegisterDevice.self) { command, context in
            let device = try await people.changes.make(by: context) { change in
                let account = try change.transaction.account(command.account)
                let device = try change.transaction.device(command.device, of: account)
                return try change.register(command.registration, on: device).device
            }
            people.personEvents.announce(command.account, .devices, "\(command.device)")
            return device
        }
        on(ResolveDevices.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
        on(EndDevicePushes.self) { command, _ in
            try await people.endPushes(command.devices) { change, ended in
                guard let device = try change.transaction.get(ended.device, from: PeopleStore.devices)?.document,
                    device.registered == ended.registered
                else { return nil }
                return try change.endPushes(of: device)
            }
            try await people.endPushes(command.subscriptions) { change, subscription in
                try change.endPushes(of: Query(where: PeopleStore.deviceSubscription == subscription))
            }
            return Done()
        }
        on(ReadDeviceChanges.self) { command, _ in
            try await people.store.snapshot { try command.answer(from: $0) }
        }
        on(RotateDeviceTokenKey.self) { command, context in
            try await people.deviceTokens.rotate(forgetting: command.forget == true, by: context)
        }
    }
}

extension People {
    /// The number of devices that are changed in one transaction.
    private static let devicesPerTransaction = 100

    /// A token of a device that is signed in.
    fileprivate func exchange(_ command: ExchangeDeviceToken) async throws -> ExchangeDeviceToken.Reply {
        let now = changes.now()
        let (challenge, device, account, key) = try await store.snapshot { transaction in
            let challenge = try transaction.challenge(command.nonce, at: now)
            let (device, account) = try transaction.signedIn(command.device)
            return (challenge, device, account, try transaction.signingKey(at: now))
        }
        try device.require(.token, nonce: command.nonce, proof: command.proof)
        let isNews = device.isNews(useAt: now) || account.role == .student && account.isNews(useAt: now)
        try await changes.make(by: .program) { change in
            try change.transaction.use(challenge)
            guard isNews else { return }
            // Both may have changed.
            let (device, account) = try change.transaction.signedIn(command.device)
            try change.transaction.update(device.id, in: PeopleStore.devices) { $0.seen = now }
            guard account.role == .student else { return }
            try change.transaction.update(account.id, in: PeopleStore.accounts) { $0.use(at: now) }
        }
        let (token, expires) = try TokenToSign(device, of: account, by: key, now: now).signed()
        return ExchangeDeviceToken.Reply(token: token, expires: expires)
    }

    /// Ends the pushes of devices, and tells their persons.
    ///
    /// - Parameter end: Ends those of one device. It returns the account's id, or `nil` if nothing has changed.
    fileprivate func endPushes<Ended: Sendable>(
        _ all: [Ended], _ end: @escaping @Sendable (PeopleChange, Ended) throws -> DeviceDocument?
    ) async throws {
        for start in stride(from: 0, to: all.count, by: Self.devicesPerTransaction) {
            let part = all[start..<min(start + Self.devicesPerTransaction, all.count)]
            let changed = try await changes.make(by: .program) { change in
                try part.compactMap { try end(change, $0) }
            }
            for device in changed {
                guard let account = AccountName(device.account) else { continue }
                personEvents.announce(account, .devices, "\(device.id)")
            }
        }
    }
}

extension Transaction {
    /// A device with its account, which is not disabled.
    ///
    /// - Throws: ``CommandFailure`` with `unauthenticated` and the field `device`.
    fileprivate func signedIn(_ id: ObjectID) throws -> (DeviceDocument, AccountDocument) {
        guard let device = try get(id, from: PeopleStore.devices)?.document,
            let account = try get(device.account, from: PeopleStore.accounts)?.document, account.isActive
        else {
            throw CommandFailure(
                .unauthenticated, "device: it has signed out, or its account is disabled; sign in again", field: "device")
        }
        return (device, account)
    }
}

extension ResolveDevices {
    fileprivate func answer(from transaction: Transaction) throws -> Reply {
        var found: [ReachedDevice] = []
        func add(_ device: DeviceDocument, _ account: AccountDocument) {
            guard device.id != except, let reached = device.reached(account.name) else { return }
            found.append(reached)
        }
        var reachable: [String: AccountDocument?] = [:]
        func account(_ id: String) throws -> AccountDocument? {
            if let known = reachable[id] { return known }
            let account = try transaction.get(id, from: PeopleStore.accounts)?.document
            let allows = try transaction.pushPreferences(of: id).allows(kind)
            reachable[id] = .some(account.flatMap { $0.isActive && allows ? $0 : nil })
            return reachable[id] ?? nil
        }
        for name in accounts {
            guard let account = try account(name.key) else { continue }
            for device in try transaction.devices(of: account) { add(device, account) }
        }
        for device in try transaction.get(all: devices, from: PeopleStore.devices).map(\.document) {
            guard let account = try account(device.account) else { continue }
            add(device, account)
        }
        return Reply(devices: found)
    }
}
