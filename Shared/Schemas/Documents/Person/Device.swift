package import Base

/// What a device runs.
package enum DevicePlatform: String, ClosedEnum {
    /// A browser.
    case web
    case android, ios
}

/// A device on which a person is signed in.
package struct Device: Codable, Hashable, Sendable {
    package let id: ObjectID
    package let platform: DevicePlatform
    /// What a person calls it, such as `Firefox on Linux`.
    package let name: String?
    package let language: String?
    package let appVersion: String?
    package let created: UnixMilliseconds
    /// When it last asked for a token, a day late at most.
    package let seen: UnixMilliseconds
    /// How it is reached; absent if it gets no pushes.
    package let push: PushTransport?
    /// When FCM or its push service has said that the app is gone; absent otherwise.
    package let pushEnded: UnixMilliseconds?

    package init(
        id: ObjectID, platform: DevicePlatform, name: String?, language: String?, appVersion: String?,
        created: UnixMilliseconds, seen: UnixMilliseconds, push: PushTransport?, pushEnded: UnixMilliseconds?
    ) {
        self.id = id
        self.platform = platform
        self.name = name
        self.language = language
        self.appVersion = appVersion
        self.created = created
        self.seen = seen
        self.push = push
        self.pushEnded = pushEnded
    }

    private enum CodingKeys: String, CodingKey {
        case id, platform, name, language, created, seen, push
        case appVersion = "app_version"
        case pushEnded = "push_ended"
    }
}

/// A device that is to be signed in. Its private key never leaves it.
package struct NewDevice: Codable, Checked, Hashable, Sendable {
    /// The public key: an uncompressed point of P-256 in URL-safe Base64.
    package let key: String
    package let platform: DevicePlatform
    package let name: String?
    package let language: String?
    package let appVersion: String?

    package init(
        key: String, platform: DevicePlatform, name: String? = nil, language: String? = nil, appVersion: String? = nil
    ) {
        self.key = key
        self.platform = platform
        self.name = name
        self.language = language
        self.appVersion = appVersion
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case key, platform, name, language
        case appVersion = "app_version"
    }

    package func check() throws(SchemaViolation) {
        try PersonLimits.deviceKey.check(key, CodingKeys.key)
        try PersonLimits.deviceName.check(name, CodingKeys.name)
        try PersonLimits.language.check(language, CodingKeys.language)
        try PersonLimits.appVersion.check(appVersion, CodingKeys.appVersion)
    }
}

/// What the key of a device signs, to show that the request comes from the device.
package enum DeviceProof {
    /// What a signature is for. A signature for one purpose is none for another.
    package enum Purpose: String, ClosedEnum {
        /// `PUT /user` and `POST /user`. The subject is the SHA-256 of the credential's token or code, or of the password's account in lower
        /// case, as 64 lower-case hexadecimal digits.
        case signIn = "sign-in"
        /// `POST /user/token`. The subject is the device's id.
        case token
        /// `POST /user/erasure`. The subject is the device's id.
        case erasure
    }

    /// The text whose UTF-8 is signed by ECDSA with SHA-256: four lines, without a line feed at the end.
    package static func text(_ purpose: Purpose, nonce: Secret, subject: String) -> String {
        "msi device proof\n\(purpose.rawValue)\n\(nonce.text)\n\(subject)"
    }
}

/// What the token of a device says: its account, and until when. Gateways read it without asking anyone.
package struct DeviceTokenClaims: Codable, Hashable, Sendable {
    /// The account.
    package let sub: AccountName
    /// The device.
    package let dev: ObjectID
    package let role: Role
    /// `true` for the professor's mark; absent otherwise.
    package let prof: Bool?
    /// When it was issued, and when it ends, in seconds since 1970.
    package let iat: Int64
    package let exp: Int64

    package init(account: AccountName, device: ObjectID, role: Role, professor: Bool, issued: UnixMilliseconds) {
        sub = account
        dev = device
        self.role = role
        prof = professor ? true : nil
        iat = issued.seconds
        exp = (issued + PersonLimits.tokenTime).seconds
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case sub, dev, role, prof, iat, exp
    }
}
