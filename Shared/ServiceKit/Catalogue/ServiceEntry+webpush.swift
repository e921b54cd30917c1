extension ServiceEntry {
    /// The service of Web Push: the subscriptions of browsers, and the pushes to them.
    package static let webpush: ServiceEntry = ServiceEntry(
        "webpush", "keeps the subscriptions of browsers, and hands messages to their push services (Web Push).",
        title: "Web Push service", purpose: "to hand messages to",
        sockets: [.commands],
        // It logs a push for each block of a message's subscriptions.
        uses: [
            BusUse(service: .messageLog, sockets: [.commands], isNeededAtStart: false),
            // It reports subscriptions that have ended, which may be those of students' devices.
            BusUse(service: .people, sockets: [.commands], isNeededAtStart: false),
        ],
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
            "hosts separated by commas, each with a port if it is not 443; .example.org stands for all hosts below it, an https:// URL "
            + "without a path for a push service of the own network, and an http:// one for a loopback address",
        default: "",
        check: { hosts in
            for host in hosts {
                guard let problem = pushServiceProblem(host) else { continue }
                throw ConfigurationError("\"\(host.prefix(80))\": \(problem)")
            }
        },
        parse: { text in
            items(of: text).map { item in
                let host = item.lowercased()
                let hasSlash = host.contains("://") && host.hasSuffix("/") && !host.hasSuffix("://")
                return hasSlash ? String(host.dropLast()) : host
            }
        })

    /// Why a text names no push service; `nil` if it names one.
    private static func pushServiceProblem(_ text: String) -> String? {
        if text.hasPrefix("http://") {
            guard HTTPAuthority(text.dropFirst(7)) != nil else {
                return "expected http://, a loopback address and a port, without a path"
            }
            return isLoopbackURL(text) ? nil : "http:// is only for loopback addresses; all others need https://"
        }
        if text.hasPrefix("https://") {
            return isHTTPSOrigin(text) ? nil : "expected https://, a host and, if it is not 443, a port, without a path"
        }
        guard let authority = HTTPAuthority(text.hasPrefix(".") ? text.dropFirst() : text[...]) else {
            return "expected a host, host:port, .example.org for all hosts below it, or a URL such as https://10.1.2.3:8443"
        }
        if isLoopbackURL("http://" + text) {
            return "a loopback address is taken only as a URL: http://\(text), or https://\(text) if it has TLS"
        }
        guard let address = IPAddress(authority.host.filter { $0 != "[" && $0 != "]" }), !address.isPublic else { return nil }
        return "a private address is taken only as a URL: https://\(text)"
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

    /// Whether this installation has a service. A service that is switched off is not started, and no page or command names it.
    ///
    /// - Throws: ``ConfigurationError``.
    package func includes(_ service: ServiceEntry) throws -> Bool {
        switch service {
        case .fcmRelay, .fcmEmulator: try usesFCM
        case .webpush: try webPushContact != nil
        case .identityEmulator: try usesIdentityEmulator || namesIdentityEmulator
        default: true
        }
    }
}
