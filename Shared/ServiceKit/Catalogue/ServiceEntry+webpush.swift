extension ServiceEntry {
    /// The service of Web Push: the subscriptions of browsers, and the pushes to them.
    package static let webpush: ServiceEntry = ServiceEntry(
        "webpush", "keeps the subscriptions of browsers, and hands messages to their push services (Web Push).",
        title: "Web Push service", purpose: "to hand messages to",
        sockets: [.commands],
        // It logs a push for each block of a message's subscriptions.
        uses: [BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false)],
        // For the subscriptions of the app. The message log reports whether messages can be handed over.
        gatewayUses: [.commands], gatewayNeed: .reportedByOther,
        keepsData: true,
        stateFiles: ["webpush.sqlite"],
        settings: [
            Setting.webPushContact.declaration, Setting.webPushHosts.declaration, Setting.webPushCAFile.declaration,
        ])
}

extension Setting where Value == String {
    /// Read it with ``SettingValues/webPushContact``.
    package static let webPushContact = Setting(
        "webpush.contact",
        "Whom the operators of push services can reach about this installation's pushes to browsers. It switches Web Push on; the message "
            + "log, the gateway and the Web Push service need the same value. msi up sets one, unless this is off.",
        expected: "a mailto: or https:// address, or off"
    ) { text in
        if text == webPushOff { return text }
        if text.hasPrefix("https://") { return HTTPAuthority(text.dropFirst(8).prefix { $0 != "/" }) == nil ? nil : text }
        return text.wholeMatch(of: /mailto:[^\s@,?]+@[^\s@,?]+/) == nil ? nil : text
    }

    /// The contact of `msi up`, for an installation that is tried out.
    package static let exampleWebPushContact = "mailto:webpush@example.org"

    /// The value that switches Web Push off.
    fileprivate static let webPushOff = "off"

    package static let webPushCAFile = text(
        "webpush.ca.file", "A file with certificates (PEM) to trust for push services instead of the system's.",
        expected: "a file"
    ).readAtStart()
}

extension Setting where Value == [String] {
    package static let webPushHosts = Setting(
        "webpush.hosts",
        "Push services whose subscriptions are taken, beside those of Google, Mozilla, Apple and Microsoft, such as a UnifiedPush server. "
            + "One that is written as a URL may be on a private address, and on this machine without TLS.",
        expected:
            "hosts separated by commas, each with a port if it is not 443; .example.org stands for all hosts below it, and an "
            + "http:// or https:// URL without a path for a push service of the own network",
        default: ""
    ) { text in
        let hosts = items(of: text).map { $0.lowercased() }
        return hosts.allSatisfy(isPushServiceHost) ? hosts : nil
    }

    private static func isPushServiceHost(_ text: String) -> Bool {
        if text.hasPrefix("http://") { return isLoopbackURL(text) }
        if text.hasPrefix("https://") { return isHTTPSOrigin(text) }
        return HTTPAuthority(text.hasPrefix(".") ? text.dropFirst() : text[...]) != nil
    }
}

extension SettingValues {
    /// The contact for push services; `nil` if Web Push is off.
    ///
    /// - Throws: ``ConfigurationError``.
    package var webPushContact: String? {
        get throws {
            let contact = try optional(.webPushContact)
            return contact == Setting<String>.webPushOff ? nil : contact
        }
    }

    /// Whether messages and pushes go to Firebase Cloud Messaging.
    ///
    /// - Throws: ``ConfigurationError``.
    package var usesFCM: Bool {
        get throws { try value(.fcm) }
    }

    /// Whether this installation has a service: what is switched off is not started, and nothing speaks of it.
    ///
    /// - Throws: ``ConfigurationError``.
    package func includes(_ service: ServiceEntry) throws -> Bool {
        switch service {
        case .fcmRelay, .fcmEmulator: try usesFCM
        case .webpush: try webPushContact != nil
        default: true
        }
    }
}
