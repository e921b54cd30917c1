import Bus
import Schemas
import ServiceKit

/// Why an instance of a service does not answer, and what helps.
struct BusAdvice: Sendable {
    let instance: BusInstance
    let installation: Installation
    let settings: SettingValues
    let processes: [RunningProcess]
    /// The `msi up` that runs the services of a build; `nil` if none does.
    let supervisor: RunningSupervisor?

    private var name: String { instance.service.executable }
    private var setting: String { Setting<[String]>.endpoints(of: instance.service).declaration.name }
    private var listenSetting: String { Setting<String>.listen(instance.service).declaration.name }
    private var port: String { instance.endpoint.split(separator: ":").last.map(String.init) ?? "" }
    private var host: String { instance.otherHost ?? "this machine" }

    /// Where its log is.
    var log: String {
        if case .listening(let id?) = instance.state, let process = processes.first(where: { $0.id == id }) {
            return log(of: process)
        }
        return usualLog
    }

    private func log(of process: RunningProcess) -> String {
        if let unit = process.unit { return "journalctl -u \(unit)" }
        return process.isSupervised ? usualLog : "its output"
    }

    private var usualLog: String {
        let log = installation.log(
            of: instance.service, at: instance.endpoint, stateDirectory: (try? settings.value(.stateDirectory)) ?? "")
        return instance.otherHost.map { "on \($0) \(log)" } ?? log
    }

    private var start: String {
        let start = "\(installation.start(instance.service, at: instance.endpoint)); its last words are in \(log)"
        return instance.otherHost.map { "on \($0): \(start)" } ?? start
    }

    private func failure(_ found: String, _ advice: String) -> Finding { .failure(.sockets, found, advice) }

    // MARK: Nothing listens

    func findingWithoutListener() async -> Finding {
        switch instance.state {
        case .missing, .stale, .refused:
            guard instance.otherHost == nil else { break }
            if let running = await findingOfProcess() { return running }
            let ended = await EndedService.look(
                instance.service, at: instance.endpoint, of: installation, settings, supervisor: supervisor)
            if let ended { return failure("\(name) \(ended.found)", ended.advice) }
        default: break
        }
        switch instance.state {
        case .listening: return .ok(.sockets, "\(name) listens at \(instance.endpoint)")
        case .missing: return failure("\(name) is not running: there is nothing at \(instance.endpoint)", start)
        case .stale:
            let other =
                instance.service.mayHaveInstances
                ? ". If this instance is not to come back: rm \(String(instance.endpoint.dropFirst(6)).shellQuoted)" : ""
            return failure(
                "\(name) is not running: \(instance.endpoint) was left behind by a process that was killed", start + other)
        case .forbidden(let path):
            return failure(
                "\(name) cannot be reached: this user may not use \(path)",
                "run msi doctor as the user of the services or as root")
        case .unknownName(let reason):
            return failure(
                "\(name) at \(instance.endpoint): the host name has no address: \(reason)",
                "correct the name in \(setting), or add it to the DNS or to /etc/hosts; getent hosts NAME shows what this machine finds"
            )
        case .refused:
            guard let other = instance.otherHost else {
                return failure("\(name) is not running: nothing listens at \(instance.endpoint), which is this machine", start)
            }
            return failure(
                "\(name) at \(instance.endpoint): the connection is refused, so \(other) is up, and nothing listens at port \(port)",
                "\(start); \(listenSetting) there must have port \(port): ss -ltn shows the ports, and msi doctor there says more"
            )
        case .silent:
            return failure(
                "\(name) at \(instance.endpoint): nothing answers, not even with a refusal",
                "is \(host) up (ping), and does a firewall on the way or there let port \(port) through? nc -vz HOST \(port) tries it"
            )
        case .unreachable(let reason):
            return failure(
                "\(name) at \(instance.endpoint): \(host) cannot be reached: \(reason)",
                "look at the network of this machine (ip route get ADDRESS), and at the address of the name (getent hosts NAME)")
        }
    }

    /// The process is there: it has no socket yet, or one at no endpoint of the settings.
    private func findingOfProcess() async -> Finding? {
        guard let used = try? settings.value(.endpoints(of: instance.service)), let known = try? ClientEndpoints(used)
        else { return nil }
        for process in processes where process.service == instance.service {
            guard let own = await process.commandEndpoint() else { continue }
            if isHere(own) { return findingBeforeListening(process) }
            guard !known.include(own), !used.contains(where: { Self.isSamePort($0, own) }) else { continue }
            let other = instance.endpoint.contains("*") ? "an endpoint that matches \(instance.endpoint)" : instance.endpoint
            return failure(
                "\(name) runs (process \(process.id)) and listens at \(own), but \(setting) is \(used.joined(separator: ", "))",
                "set \(setting) to \(own) for its clients and for this command, or \(listenSetting) to \(other) for \(name); "
                    + "then restart what has changed")
        }
        return nil
    }

    /// A service listens once its database is open.
    private func findingBeforeListening(_ process: RunningProcess) -> Finding {
        guard !process.isStopped else { return finding(ofStopped: process) }
        return failure(
            "\(name) runs (process \(process.id)) and does not take commands at \(instance.endpoint) yet: it starts, or waits for its database",
            "\(log(of: process)) says what it waits for; if \(listenSetting) has changed since its start, restart it")
    }

    /// Whether the process that listens at an endpoint is this instance.
    private func isHere(_ own: String) -> Bool { own == instance.endpoint || Self.isSamePort(own, instance.endpoint) }

    /// A service may listen at every address of the machine, and its clients know one of them.
    private static func isSamePort(_ one: String, _ other: String) -> Bool {
        guard case .tcp(_, let port)? = try? Endpoint(one), case .tcp(_, let second)? = try? Endpoint(other) else { return false }
        return port == second
    }

    // MARK: It listens, and does not answer as it should

    func finding(of error: CommandFailure) async -> Finding {
        let place = "\(name) at \(instance.endpoint)"
        guard error.isWithoutConnection || error.status == .deadlineExceeded else {
            return failure("\(place) does not work: \(error.message)", advice(for: error.status))
        }
        // A reason in the message is about the keys, since TCP has worked.
        if error.isWithoutConnection, error.message.contains("("), instance.endpoint.hasPrefix("tcp://") {
            return failure(
                "\(place) accepts the connection, and not this machine's keys or protocol: \(error.message)",
                "compare MSI_BUS_KEY_FILE and MSI_BUS_PEERS_FILE of both machines: msi keys public FILE --name HOST prints the line that each "
                    + "list of peers must have for a machine, with the host as in \(setting). \(log) says whom the service refuses"
            )
        }
        if let host = instance.otherHost {
            return failure(
                "\(place) accepts the connection and answers nothing: the process hangs or is stopped there, or has another key",
                "msi doctor on \(host) tells which; with keys, compare them: msi keys public FILE")
        }
        // The executable of another user's process may be hidden.
        if case .listening(let process?) = instance.state, let program = RunningProcess.program(of: process)?.path,
            program != installation.path(of: instance.service)
        {
            return failure(
                "\(place) answers nothing, and process \(process), which listens there, is no \(name) of this installation: it runs \(program)",
                "ps -fp \(process) shows what it is; end it, or let \(setting) and \(listenSetting) name another endpoint")
        }
        return failure(
            "\(place) accepts the connection and answers nothing: it hangs, or the machine is overloaded (\(error.message))",
            "look at the machine's load (uptime) and at \(log), and restart it")
    }

    func finding(ofStopped process: RunningProcess) -> Finding {
        failure(
            "\(name) at \(instance.endpoint) answers nothing, because its process \(process.id) is stopped "
                + "(SIGSTOP, or Ctrl-Z in a terminal)", "\(process.resume); \(log(of: process)) says more")
    }

    /// The process that listens, if a signal has stopped it. `nil` if it is not stopped, or nothing listens.
    func stoppedProcess() async -> RunningProcess? {
        guard instance.otherHost == nil, case .listening(let id) = instance.state else { return nil }
        if let id { return processes.first { $0.id == id && $0.isStopped } }
        // The system does not tell which one listens: over TCP, or because the queue of connections is full.
        for process in processes where process.service == instance.service && process.isStopped {
            if let own = await process.commandEndpoint(), isHere(own) { return process }
        }
        return nil
    }

    private func advice(for status: ReplyStatus) -> String {
        switch status {
        case .storageFull: "free some space on the disk of its database"
        case .overloaded: "it has more to do than it can; look at the machine's load"
        default: "\(log) says more; restart it if it hangs"
        }
    }
}

extension RunningProcess {
    /// The command that resumes a stopped process.
    var resume: String { unit.map { "systemctl kill --signal=CONT \($0)" } ?? "kill -CONT \(id)" }

    /// A check cannot be made, since a signal has stopped the process. Another check reports the process itself.
    func stoppedFinding(_ check: Finding.Check) -> Finding {
        .warning(check, "not checked: \(service.executable) (process \(id)) is stopped by a signal", resume)
    }
}

/// One instance of a service, and what is at its endpoint.
struct BusInstance: Sendable {
    let service: ServiceEntry
    let endpoint: String
    let state: EndpointState
    /// The host, if it is another machine.
    let otherHost: String?

    init(_ service: ServiceEntry, at endpoint: String) async {
        self.service = service
        self.endpoint = endpoint
        state = await EndpointState.look(at: endpoint)
        otherHost = await EndpointState.otherHost(of: endpoint)
    }

    init(_ service: ServiceEntry, at endpoint: String, _ state: EndpointState, otherHost: String? = nil) {
        self.service = service
        self.endpoint = endpoint
        self.state = state
        self.otherHost = otherHost
    }
}
