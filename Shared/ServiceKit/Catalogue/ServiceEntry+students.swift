extension ServiceEntry {
    /// The replacement of Google, Firebase Authentication and Facebook in development and tests.
    package static let identityEmulator = ServiceEntry(
        "identity-emulator",
        "A local stand-in for Google, Firebase Authentication and Facebook in development and tests: sign-in pages, tokens, keys, errors.",
        title: "identity emulator",
        port: .identityEmulatorPort,
        stateFiles: [IdentityEmulatorAccess.folderName])
}

/// How the people service reaches an identity emulator on this machine.
package struct IdentityEmulatorAccess: Hashable, Sendable {
    /// The name of the emulator's folder in its state directory. It has the keys that sign its tokens.
    package static let folderName = "identity-emulator"
    /// The client id, the Firebase project and the Facebook app that the emulator knows.
    package static let clientID = "hub.apps.example"
    package static let project = "hub-example"
    package static let appID = "1234567890"
    /// Not a secret: the emulator takes it from anyone.
    package static let appSecret = "emulated"

    package let port: Int

    package init(port: Int) {
        self.port = port
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    /// The people service's settings, by their names in the environment.
    package var settings: [String: String] {
        [
            Setting.identityEndpoint.declaration.name: url,
            Setting.googleClientIDs.declaration.name: Self.clientID,
            Setting.firebaseProject.declaration.name: Self.project,
            Setting.facebookAppID.declaration.name: Self.appID,
            Setting.facebookAppSecret.declaration.name: Self.appSecret,
            Setting.firebaseSignInURL.declaration.name: url + "/firebase/sign-in",
        ]
    }
}

extension SettingDeclaration {
    /// The settings of the people service about students.
    static let students: [SettingDeclaration] =
        [
            Setting.oidcAppClientIDs.declaration, Setting.oidcStudents.declaration, Setting.oidcProfessors.declaration,
            Setting.googleClientIDs.declaration, Setting.googleDomains.declaration, Setting.firebaseProject.declaration,
            Setting.firebaseSignInURL.declaration, Setting.facebookAppID.declaration, Setting.facebookAppSecret.declaration,
        ] + (Setting.facebookAppSecret.declaration.file.map { [$0] } ?? []) + [
            Setting.identityEndpoint.declaration, Setting.registration.declaration, Setting.unusedAccountDays.declaration,
            Setting.erasedAccountDays.declaration,
        ]
}

extension Setting where Value == [String] {
    package static let oidcAppClientIDs = list(
        "oidc.app.client.ids",
        "Further client identifiers at the OpenID Connect provider, of native apps, whose ID tokens are taken.",
        of: "client identifiers")
    package static let oidcStudents = list(
        "oidc.students",
        "The values of the role claim with which a person may register as a student; without values everyone of the provider may.",
        of: "values")
    package static let oidcProfessors = list(
        "oidc.professors", "The values of the role claim that give the professor's mark at each sign-in.", of: "values")
    package static let googleClientIDs = list(
        "google.client.ids",
        "The client identifiers of this installation at Google: first that of the web app, then those of native apps. Without any, nobody "
            + "signs in with Google.",
        of: "client identifiers")
    package static let googleDomains = list(
        "google.domains", "The Google organisations whose accounts are taken; without any, all Google accounts are.",
        of: "domains such as example.edu")
}

extension Setting where Value == String {
    package static let firebaseProject = text(
        "firebase.project", "The Firebase project whose ID tokens are taken; without it, none are.", expected: "a project's id")
    package static let firebaseSignInURL = Setting(
        "firebase.sign.in.url",
        "A page that signs a person in at Firebase, and returns to its redirect_uri with id_token and state in the fragment; without it, "
            + "only native apps sign in with Firebase.",
        expected: "an https:// address; http:// only with a loopback address"
    ) { $0.hasPrefix("https://") || isLoopbackPage($0) ? $0 : nil }
    package static let facebookAppID = text(
        "facebook.app.id", "The identifier of this installation's Facebook app; without it, nobody signs in with Facebook.",
        expected: "an app's id")
    package static let facebookAppSecret = Setting(
        "facebook.app.secret", "The secret of the Facebook app, with which the hub checks access tokens.",
        expected: "an app's secret", isSecret: true
    ) { $0.isEmpty ? nil : $0 }
    package static let identityEndpoint = Setting(
        "identity.endpoint",
        "An identity emulator that stands for Google, Firebase and Facebook. Never set it where real people sign in.",
        expected: "an http:// URL of this machine without a path"
    ) { isLoopbackURL($0) ? $0 : nil }
    package static let registration = choice(
        "registration",
        "Who may register as a student with account name and password: nobody, those with an access code of a super user, or anyone.",
        of: ["off", "code", "anyone"], default: "off")

    private static func isLoopbackPage(_ text: String) -> Bool {
        text.prefixMatch(of: /http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/) != nil
    }
}

extension Setting where Value == Int {
    package static let identityEmulatorPort = port(
        "identity.emulator.port", "The identity emulator's HTTP port on 127.0.0.1.", default: 8_444)
    package static let unusedAccountDays = integer(
        "account.unused.days", "After how many days without use a student's account is disabled; 0 is never.", in: 0...36_500,
        default: 0
    ).changingLive()
    package static let erasedAccountDays = integer(
        "account.erased.days", "After how many further days an account that was disabled so is erased; 0 is never.",
        in: 0...36_500, default: 90
    ).changingLive()
}

extension SettingValues {
    /// Whether `msi up` runs the identity emulator, and lets the people service use it: no provider of students is set, and the gateway is
    /// for this machine alone. Where others reach it, anyone could pretend to be anyone.
    ///
    /// - Throws: ``ConfigurationError``.
    package var usesIdentityEmulator: Bool {
        get throws {
            try value(.googleClientIDs).isEmpty && optional(.firebaseProject) == nil && optional(.facebookAppID) == nil
                && optional(.identityEndpoint) == nil && optional(.gatewayPublicURL) == nil
        }
    }

    /// Whether the people service uses the identity emulator at its usual place: by the settings that `msi up` gives it.
    ///
    /// - Throws: ``ConfigurationError``.
    var namesIdentityEmulator: Bool {
        get throws {
            try optional(.identityEndpoint) == IdentityEmulatorAccess(port: value(.identityEmulatorPort)).url
        }
    }

    /// What `msi up` gives the people service so that students can be tried out: the identity emulator, and registration by a name and a
    /// password for anyone, unless the operator has decided about that.
    package func trial(with emulator: IdentityEmulatorAccess) -> [String: String] {
        let registration = Setting<String>.registration.declaration
        return emulator.settings.merging(isSet(registration) ? [:] : [registration.name: "anyone"]) { $1 }
    }
}
