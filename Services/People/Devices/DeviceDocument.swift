import Base
import DeviceTokens
import Schemas
import Store

/// A device as it is stored. It ends when it signs out, or is signed out; then nothing of it is left but a ``TokenEndDocument``.
struct DeviceDocument: StoredDocument, Hashable {
    let id: ObjectID
    /// The account's name in lower case.
    let account: String
    /// The public key, as ``NewDevice/key``.
    let key: String
    /// The key's, which identifies the device before it has an id.
    let thumbprint: String
    let platform: DevicePlatform
    var name: String?
    var language: String?
    var appVersion: String?
    let created: UnixMilliseconds
    /// When it last asked for a token, a day late at most.
    var seen: UnixMilliseconds
    /// FCM's registration token. Whoever has it can reach the phone.
    var fcmToken: String?
    /// A subscription that the Web Push service keeps.
    var subscription: ObjectID?
    /// When ``fcmToken`` or ``subscription`` was registered.
    var registered: UnixMilliseconds?
    /// When FCM or its push service has said that the app is gone.
    var pushEnded: UnixMilliseconds?

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case account, key, thumbprint, platform, name, language, created, seen, subscription, registered
        case appVersion = "app_version"
        case fcmToken = "fcm_token"
        case pushEnded = "push_ended"
    }

    init(_ device: NewDevice, thumbprint: String, of account: AccountDocument, now: UnixMilliseconds) {
        id = ObjectID()
        self.account = account.id
        key = device.key
        self.thumbprint = thumbprint
        platform = device.platform
        created = now
        seen = now
        update(device)
    }
}

extension PeopleStore {
    static let deviceAccount = Field("account", \DeviceDocument.account)
    static let deviceThumbprint = Field("thumbprint", \DeviceDocument.thumbprint)
    static let deviceFCMToken = Field("fcm_token", \DeviceDocument.fcmToken)
    static let deviceSubscription = Field("subscription", \DeviceDocument.subscription)

    static let devices = Collection<DeviceDocument>(
        "device",
        indexes: [.on(deviceAccount), .unique(deviceThumbprint), .unique(deviceFCMToken), .unique(deviceSubscription)],
        reserve: .changes)
}

extension DeviceDocument {
    /// How late ``seen`` may be.
    private static let seenPrecision = Milliseconds.seconds(86_400)

    /// Whether a use at a time is worth storing. The clock may have been ahead at the stored one.
    func isNews(useAt now: UnixMilliseconds) -> Bool { !(seen..<seen + Self.seenPrecision).contains(now) }

    /// What it says about itself when it signs in. Its platform never changes.
    mutating func update(_ device: NewDevice) {
        name = device.name
        language = device.language
        appVersion = device.appVersion
    }

    /// How it is reached from now on, and what it runs.
    mutating func update(_ registration: DeviceRegistration, now: UnixMilliseconds) {
        name = registration.name
        language = registration.language
        appVersion = registration.appVersion
        let token = registration.fcmToken?.text
        guard token != fcmToken || registration.subscription != subscription || pushEnded != nil else { return }
        (fcmToken, subscription) = (token, registration.subscription)
        registered = token == nil && subscription == nil ? nil : now
        pushEnded = nil
    }

    /// It is not reached any more, until it registers again.
    mutating func endPushes(now: UnixMilliseconds) {
        (fcmToken, subscription, registered) = (nil, nil, nil)
        pushEnded = now
    }

    private var push: PushTransport? { fcmToken != nil ? .fcm : subscription != nil ? .webpush : nil }

    /// Without its key and how it is reached.
    var device: Device {
        Device(
            id: id, platform: platform, name: name, language: language, appVersion: appVersion, created: created, seen: seen,
            push: push, pushEnded: pushEnded)
    }

    /// As a push reaches it; `nil` if none does.
    func reached(_ account: AccountName) -> ReachedDevice? {
        guard let push, let registered, let address = fcmToken ?? subscription?.description else { return nil }
        return ReachedDevice(
            device: id, account: account, transport: push, address: Secret(address), registered: registered, language: language)
    }

    /// Checks a proof, whose nonce the caller uses up (``Challenge``).
    ///
    /// - Throws: ``CommandFailure``: `unauthenticated` with the field `proof`; `internal` if the stored key is damaged.
    func require(_ purpose: DeviceProof.Purpose, nonce: Secret, proof: String) throws(CommandFailure) {
        let publicKey: DeviceKey
        do throws(SchemaViolation) {
            publicKey = try DeviceKey(key)
        } catch {
            throw CommandFailure(.internal, "the key of the device \(id) is damaged; remove the device")
        }
        guard publicKey.hasSigned(purpose, nonce: nonce, subject: "\(id)", proof: proof) else { throw .wrongProof }
    }
}

extension CommandFailure {
    static var wrongProof: CommandFailure {
        CommandFailure(.unauthenticated, "proof: the device's key has not signed this", field: "proof")
    }
}

extension Transaction {
    /// The devices of an account. There may be a few more than ``PersonLimits/maxDevices``, by sign-ins at the same moment.
    func devices(of account: AccountDocument) throws -> [DeviceDocument] {
        let query = Query(where: PeopleStore.deviceAccount == account.id)
        return try page(of: PeopleStore.devices, query, limit: 10 * PersonLimits.maxDevices).documents.map(\.document)
    }

    /// A device of an account.
    ///
    /// - Throws: ``CommandFailure`` with `not_found`.
    func device(_ id: ObjectID, of account: AccountDocument) throws -> DeviceDocument {
        guard let device = try get(id, from: PeopleStore.devices)?.document, device.account == account.id else {
            throw CommandFailure(.notFound, "no device \(id) of \(account.name)")
        }
        return device
    }
}
