package import Base

/// `device.list`: the devices of an account, the one that was used last first.
package struct ListDevices: Command {
    package static let name = "device.list"

    package struct Reply: Codable, Hashable, Sendable {
        package let devices: [Device]

        package init(devices: [Device]) {
            self.devices = devices
        }
    }

    package let account: AccountName

    package init(_ account: AccountName) {
        self.account = account
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account
    }
}

/// `device.end`: signs out a device of an account, or all of its devices. Their tokens end at once. `not_found` if the account has no such
/// device.
package struct EndDevice: Command {
    package static let name = "device.end"
    package typealias Reply = Done

    package let account: AccountName
    /// `nil` for all.
    package let device: ObjectID?

    package init(_ device: ObjectID?, of account: AccountName) {
        self.account = account
        self.device = device
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, device
    }
}

/// `device.register`: how a device is reached, and what it runs. What is absent is removed. The same token or subscription of another
/// device ends there, since a phone or a browser has one person at a time.
package struct RegisterDevice: Command {
    package static let name = "device.register"
    package typealias Reply = Device

    package let account: AccountName
    package let device: ObjectID
    package let registration: DeviceRegistration

    package init(_ device: ObjectID, of account: AccountName, _ registration: DeviceRegistration) {
        self.account = account
        self.device = device
        self.registration = registration
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case account, device, registration
    }
}

/// The body of `PUT /user/devices/{id}`: at most one of a registration token of FCM and a subscription of the Web Push service.
package struct DeviceRegistration: Codable, Checked, Hashable, Sendable {
    package let fcmToken: Secret?
    /// The id of a subscription that the Web Push service keeps.
    package let subscription: ObjectID?
    package let name: String?
    package let language: String?
    package let appVersion: String?

    package init(
        fcmToken: Secret? = nil, subscription: ObjectID? = nil, name: String? = nil, language: String? = nil,
        appVersion: String? = nil
    ) {
        self.fcmToken = fcmToken
        self.subscription = subscription
        self.name = name
        self.language = language
        self.appVersion = appVersion
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case subscription, name, language
        case fcmToken = "fcm_token"
        case appVersion = "app_version"
    }

    package func check() throws(SchemaViolation) {
        if let fcmToken {
            if let problem = TextLimits.registrationToken.problem(with: fcmToken.text) {
                throw SchemaViolation(CodingKeys.fcmToken, problem)
            }
            // A relay refuses a push with such a token as a whole, also for the other devices.
            guard fcmToken.text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SchemaViolation(CodingKeys.fcmToken, "expected a token of ASCII characters without a space")
            }
            guard subscription == nil else {
                throw SchemaViolation(CodingKeys.subscription, "expected only one of fcm_token and subscription")
            }
        }
        try PersonLimits.deviceName.check(name, CodingKeys.name)
        try PersonLimits.language.check(language, CodingKeys.language)
        try PersonLimits.appVersion.check(appVersion, CodingKeys.appVersion)
    }
}

/// `device.resolve`: how persons are reached now, for a push that is being relayed. Devices without pushes, those of disabled accounts, and
/// those of persons who have switched off the kind are missing.
package struct ResolveDevices: Command, Checked {
    package static let name = "device.resolve"

    package struct Reply: Codable, Hashable, Sendable {
        package let devices: [ReachedDevice]

        package init(devices: [ReachedDevice]) {
            self.devices = devices
        }
    }

    /// At a first attempt.
    package let accounts: [AccountName]
    /// At a later attempt: those that are still to be reached.
    package let devices: [ObjectID]
    package let kind: PushKind
    /// A device that is left out.
    package let except: ObjectID?

    package init(accounts: [AccountName], devices: [ObjectID], kind: PushKind, except: ObjectID?) {
        self.accounts = accounts
        self.devices = devices
        self.kind = kind
        self.except = except
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case accounts, devices, kind, except
    }

    package func check() throws(SchemaViolation) {
        guard accounts.count <= PushRecipient.maxAccounts, devices.count <= PushRecipient.maxTokens else {
            throw SchemaViolation(
                CodingKeys.accounts,
                "expected at most \(PushRecipient.maxAccounts) accounts and \(PushRecipient.maxTokens) devices")
        }
    }
}

/// A device as a push reaches it. Only the message log asks, and it stores no address.
package struct ReachedDevice: Codable, Hashable, Sendable {
    package let device: ObjectID
    package let account: AccountName
    package let transport: PushTransport
    /// FCM's registration token, or the id of the subscription.
    package let address: Secret
    /// When the address was registered; ``EndDevicePushes`` names it, so that a newer address stays.
    package let registered: UnixMilliseconds
    package let language: String?

    package init(
        device: ObjectID, account: AccountName, transport: PushTransport, address: Secret, registered: UnixMilliseconds,
        language: String?
    ) {
        self.device = device
        self.account = account
        self.transport = transport
        self.address = address
        self.registered = registered
        self.language = language
    }
}

/// `device.unreachable`: FCM has called the tokens of devices unregistered, or subscriptions have ended. These devices get no pushes until
/// they register again. Who reports it repeats the command until it is answered, so that no report is lost. Unknown ones are ignored.
package struct EndDevicePushes: Command, Checked {
    package static let name = "device.unreachable"
    package typealias Reply = Done

    package struct Ended: Codable, Checked, Hashable, Sendable {
        package let device: ObjectID
        /// Of ``ReachedDevice``.
        package let registered: UnixMilliseconds

        package init(device: ObjectID, registered: UnixMilliseconds) {
            self.device = device
            self.registered = registered
        }

        private enum CodingKeys: String, CodingKey, CaseIterable {
            case device, registered
        }

        package func check() throws(SchemaViolation) {
            try (0...maximumUnixMilliseconds).check(registered, CodingKeys.registered)
        }
    }

    /// At most ``PushRecipient/maxTokens`` of both.
    package let devices: [Ended]
    package let subscriptions: [ObjectID]

    package init(devices: [Ended] = [], subscriptions: [ObjectID] = []) {
        self.devices = devices
        self.subscriptions = subscriptions
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case devices, subscriptions
    }

    package func check() throws(SchemaViolation) {
        guard devices.count + subscriptions.count <= PushRecipient.maxTokens else {
            throw SchemaViolation(CodingKeys.devices, "expected at most \(PushRecipient.maxTokens) with the subscriptions")
        }
    }
}
