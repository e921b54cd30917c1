import Testing

@testable import Operator

/// What `msi doctor` says about services that their manager starts again and again.
@Suite("Ended services")
struct EndedServiceTests {
    @Test("systemd's state tells a unit that has failed and one that it starts again from one that nothing has started")
    func units() {
        let failed = """
            Result=exit-code
            NRestarts=5
            ExecMainStatus=78
            ActiveState=failed
            SubState=failed
            """
        let ended = EndedService.parse(failed, unit: "msi-cube")
        #expect(ended?.found == "is not running: its unit msi-cube has failed (exit status 78, after 5 restarts)")
        #expect(ended?.advice.contains("systemctl reset-failed msi-cube && systemctl start msi-cube") == true)
        let again = "Result=watchdog\nNRestarts=1\nExecMainStatus=6\nActiveState=activating\nSubState=auto-restart"
        #expect(
            EndedService.parse(again, unit: "msi-fcm-relay@2")?.found
                == "ends each time systemd starts it (watchdog, after 1 restart)")
        for (active, sub) in [("inactive", "dead"), ("active", "running"), ("activating", "start")] {
            let state = "Result=success\nNRestarts=0\nExecMainStatus=0\nActiveState=\(active)\nSubState=\(sub)"
            #expect(EndedService.parse(state, unit: "msi-cube") == nil)
        }
        #expect(EndedService.parse("", unit: "msi-cube") == nil)
    }

    @Test("Under msi up the noted end is said; a stopped msi up is the reason for all of its services")
    func supervised() {
        let supervisor = RunningSupervisor(id: 7, isStopped: false)
        let end = StatusFile.text(ofEnd: "exited with status 78. the database is damaged")
        let ended = EndedService.supervised(by: supervisor, end, log: "/state/log/msi-cube.log")
        #expect(ended?.found.hasSuffix("exited with status 78. the database is damaged") == true)
        #expect(ended?.advice.contains("/state/log/msi-cube.log") == true)
        #expect(EndedService.supervised(by: supervisor, "ready; settings read at 2026-11-26T08:00:00Z", log: "") == nil)
        #expect(EndedService.supervised(by: supervisor, nil, log: "") == nil)
        // After a start that has failed.
        let over = EndedService.supervised(by: nil, end, log: "/state/log/msi-cube.log")
        #expect(over?.found.contains("the database is damaged") == true && over?.advice.contains("deploy/run") == true)
        #expect(EndedService.supervised(by: nil, "ready; settings read at 2026-11-26T08:00:00Z", log: "") == nil)
        let stopped = EndedService.supervised(by: RunningSupervisor(id: 7, isStopped: true), nil, log: "")
        #expect(stopped?.advice == "kill -CONT 7")
    }
}
