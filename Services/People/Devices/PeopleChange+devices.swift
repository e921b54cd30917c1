import Base
import Schemas
import Store

/// The changes of devices. None is recorded for the audit log.
extension PeopleChange {
    /// Signs an account in on a device. A key that it has already is the same device. If it is another account's, that one's device ends,
    /// since a phone or a browser has one person at a time.
    ///
    /// - Parameter thumbprint: Of the device's key.
    mutating func add(_ device: NewDevice, thumbprint: String, of account: AccountDocument) throws -> DeviceDocument {
        let query = Query(where: PeopleStore.deviceThumbprint == thumbprint)
        if let known = try transaction.page(of: PeopleStore.devices, query, limit: 1).documents.first?.document {
            if known.account == account.id {
                let now = now
                return try transaction.update(known.id, in: PeopleStore.devices) { stored in
                    stored.update(device)
                    stored.seen = now
                }.document
            }
            try end(known)
        }
        let devices = try transaction.devices(of: account).sorted { ($0.seen, $0.id) < ($1.seen, $1.id) }
        for oldest in devices.dropLast(PersonLimits.maxDevices - 1) { try end(oldest) }
        let new = DeviceDocument(device, thumbprint: thumbprint, of: account, now: now)
        try transaction.insert(new, into: PeopleStore.devices)
        return new
    }

    /// Signs out a device. Its tokens end.
    mutating func end(_ device: DeviceDocument) throws {
        try transaction.delete(device.id, from: PeopleStore.devices)
        endTokens(of: .device(device.id))
    }

    /// Signs out all devices of an account. Their tokens end, and so does one that is being given out at this moment.
    ///
    /// - Parameter except: A device that stays signed in.
    mutating func endDevices(of account: AccountDocument, except: ObjectID? = nil) throws {
        let devices = try transaction.devices(of: account)
        if except != nil {
            for device in devices where device.id != except { try end(device) }
        } else if !account.role.isStaff || !devices.isEmpty {
            try transaction.delete(devices.map(\.id), from: PeopleStore.devices)
            endTokens(of: .account(account.name))
        }
    }

    /// Removes the devices of an account, whose tokens end, and what identifies its person at the providers.
    mutating func forgetDevices(of account: AccountDocument) throws {
        if try !transaction.devices(of: account).isEmpty { endTokens(of: .account(account.name)) }
        _ = try transaction.forgetDevices(of: account)
    }

    /// Gives a device another address, which no other device has from then on.
    func register(_ registration: DeviceRegistration, on device: DeviceDocument) throws -> DeviceDocument {
        let now = now
        if let token = registration.fcmToken?.text {
            try endPushes(of: Query(where: PeopleStore.deviceFCMToken == token), except: device.id)
        }
        if let subscription = registration.subscription {
            try endPushes(of: Query(where: PeopleStore.deviceSubscription == subscription), except: device.id)
        }
        return try transaction.update(device.id, in: PeopleStore.devices) { $0.update(registration, now: now) }.document
    }

    /// The device of a query gets no pushes until it registers again.
    ///
    /// - Returns: `nil` if there is none.
    @discardableResult
    func endPushes(of query: Query<DeviceDocument>, except: ObjectID? = nil) throws -> DeviceDocument? {
        let found = try transaction.page(of: PeopleStore.devices, query, limit: 1).documents.first?.document
        guard let found, found.id != except else { return nil }
        return try endPushes(of: found)
    }

    func endPushes(of device: DeviceDocument) throws -> DeviceDocument {
        let now = now
        return try transaction.update(device.id, in: PeopleStore.devices) { $0.endPushes(now: now) }.document
    }
}

extension Transaction {
    /// Removes the devices of an account, what identifies its person at the providers, and the hashes of the tokens that were used there. The
    /// caller ends the tokens of its devices, by ``PeopleChange/endTokens(of:)``.
    func forgetDevices(of account: AccountDocument) throws -> [ErasedData] {
        let devices = try devices(of: account)
        var tokens = 0
        for device in devices {
            let query = Query(where: PeopleStore.usedTokenDevice == device.thumbprint)
            while case let used = try page(of: PeopleStore.usedTokens, query, limit: 100).documents, !used.isEmpty {
                try delete(used.map(\.id), from: PeopleStore.usedTokens)
                tokens += used.count
            }
        }
        try delete(devices.map(\.id), from: PeopleStore.devices)
        let query = Query(where: PeopleStore.identityAccount == account.id)
        let identities = try page(of: PeopleStore.identities, query, limit: 100).documents
        try delete(identities.map(\.id), from: PeopleStore.identities)
        return [
            ErasedData(what: "devices", count: devices.count), ErasedData(what: "identities", count: identities.count),
            ErasedData(what: "used_tokens", count: tokens),
        ]
    }
}
